import { PASST_LOG, TAP_DEVICE } from '../../../api/launcher/paths.ts';
import type { HostFacts } from '../../../api/launcher/host-facts.ts';
import type { Interface as InterfaceSpec, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { architectureOf, virtioModel } from '../architecture.ts';
import { alias, given, type Concern } from '../concern.ts';
import type { Interface } from '../domain.ts';
import { ConversionError } from '../errors.ts';
import { pciAddress } from '../pci-address.ts';
import { vcpuCount } from '../topology.ts';

/** Of the Pod. */
const POD_INTERFACE = 'eth0';
/** A tap device has at most this many queues. */
const MAX_QUEUES = 256;

/** The n-th interface is plugged into the tap device of that number, which the node worker makes. */
const tapDevice = (index: number): string => TAP_DEVICE.replace(/\d+$/, String(index));

/** One queue per vCPU on paravirtual interfaces, when asked for. */
function multiqueue(vmi: VirtualMachineInstance): Interface['driver'] {
  if (vmi.spec.domain.devices.networkInterfaceMultiqueue !== true) return undefined;
  return { '@name': 'vhost', '@queues': Math.min(vcpuCount(vmi), MAX_QUEUES) };
}

function convert(spec: InterfaceSpec, index: number, vmi: VirtualMachineInstance, host: HostFacts): Interface {
  const model = spec.model || 'virtio';
  const mac = given(spec.macAddress) ?? host.macAddresses?.[spec.name];
  return {
    '@type': 'ethernet',
    mac: mac === undefined ? undefined : { '@address': mac },
    target: { '@dev': tapDevice(index), '@managed': 'no' },
    model: { '@type': model === 'virtio' ? virtioModel(vmi) : model },
    driver: model === 'virtio' ? multiqueue(vmi) : undefined,
    mtu: host.mtu === undefined ? undefined : { '@size': host.mtu },
    link: spec.state === 'down' ? { '@state': 'down' } : undefined,
    boot: spec.bootOrder === undefined ? undefined : { '@order': spec.bootOrder },
    // Without a place in the boot order the option ROM would only cost boot time.
    rom: spec.bootOrder === undefined && architectureOf(vmi).hasRomTuning ? { '@enabled': 'no' } : undefined,
    acpi: spec.acpiIndex ? { '@index': spec.acpiIndex } : undefined,
    alias: alias(spec.name),
    address: pciAddress(`spec.domain.devices.interfaces[${spec.name}].pciAddress`, spec.pciAddress),
  };
}

/** A host's own function is passed through by whoever knows its address; a plug-in says whether it makes a tap device. */
const isTap = ({ name, sriov, binding }: InterfaceSpec, { domainAttachment }: HostFacts): boolean =>
  sriov === undefined && (binding === undefined || domainAttachment[name] === 'tap');

/** A user process that translates the guest's traffic to the Pod's sockets: those of the ports that are named, or of all. */
function passt(spec: InterfaceSpec, vmi: VirtualMachineInstance): Interface {
  const mac = given(spec.macAddress);
  const ports = spec.ports ?? [];
  const forward = (proto: 'tcp' | 'udp'): NonNullable<Interface['portForward']> => {
    const range = ports
      .filter(({ protocol }) => (protocol || 'TCP').toLowerCase() === proto)
      .map(({ port }) => ({ '@start': port }));
    if (ports.length === 0) return [{ '@proto': proto }];
    return range.length === 0 ? [] : [{ '@proto': proto, range }];
  };
  return {
    '@type': 'vhostuser',
    mac: mac === undefined ? undefined : { '@address': mac },
    source: { '@dev': POD_INTERFACE },
    model: { '@type': virtioModel(vmi) },
    boot: spec.bootOrder === undefined ? undefined : { '@order': spec.bootOrder },
    acpi: spec.acpiIndex ? { '@index': spec.acpiIndex } : undefined,
    alias: alias(spec.name),
    address: pciAddress(`spec.domain.devices.interfaces[${spec.name}].pciAddress`, spec.pciAddress),
    backend: { '@type': 'passt', '@logFile': PASST_LOG },
    portForward: [...forward('tcp'), ...forward('udp')],
  };
}

/** Interfaces on prepared tap devices: the launcher needs no privilege. Interfaces with state absent are left out. */
export const interfaces: Concern = (vmi, host) => {
  const present = (vmi.spec.domain.devices.interfaces ?? []).filter(({ state }) => state !== 'absent');
  const networks = new Set((vmi.spec.networks ?? []).map(({ name }) => name));
  for (const { name } of present)
    if (!networks.has(name))
      throw new ConversionError(`spec.domain.devices.interfaces[${name}]`, 'no network has this name in spec.networks');
  const taps = present.filter((spec) => spec.passtBinding === undefined && isTap(spec, host));
  return {
    devices: {
      interface: present.flatMap((spec) => {
        if (spec.passtBinding !== undefined) return [passt(spec, vmi)];
        return taps.includes(spec) ? [convert(spec, taps.indexOf(spec), vmi, host)] : [];
      }),
    },
  };
};
