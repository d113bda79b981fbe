import { RICH_SPEC } from '../api/validation/samples.ts';

/** Volumes, networks and devices of the rich sample that virtflow can run. */
const RUN = { volumes: ['os', 'data', 'seed', 'host', 'scratch'], networks: ['main'], interfaces: ['main'] };

const only = <T extends { name: string }>(items: readonly T[], names: readonly string[]): T[] =>
  items.filter(({ name }) => names.includes(name));

/** As much as a VMI may ask for and still run. */
const workableSpec = (): object => {
  const { accessCredentials: _, domain, ...spec } = structuredClone(RICH_SPEC);
  const { gpus: _gpus, hostDevices: _hostDevices, filesystems: _filesystems, tpm: _tpm, ...devices } = domain.devices;
  const { acpi: _acpi, ...firmware } = domain.firmware;
  return {
    ...spec,
    networks: only(spec.networks, RUN.networks),
    volumes: only(spec.volumes, RUN.volumes),
    domain: { ...domain, firmware, devices: { ...devices, interfaces: only(devices.interfaces, RUN.interfaces) } },
  };
};

const metadata = { name: 'web', namespace: 'shop' };

export const workableInstance = (): object => ({
  ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata, spec: workableSpec() },
});

export const workableVirtualMachine = (): object => ({
  ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata },
  spec: { runStrategy: 'Manual', template: { metadata: { labels: { app: 'web' } }, spec: workableSpec() } },
});
