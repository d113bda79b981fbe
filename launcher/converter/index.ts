import type { HostFacts } from '../../api/launcher/host-facts.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { Concern } from './concern.ts';
import { balloon } from './concerns/balloon.ts';
import { channels } from './concerns/channels.ts';
import { clock } from './concerns/clock.ts';
import { consoles } from './concerns/consoles.ts';
import { controllers } from './concerns/controllers.ts';
import { cpu } from './concerns/cpu.ts';
import { disks } from './concerns/disks.ts';
import { features } from './concerns/features.ts';
import { filesystems } from './concerns/filesystems.ts';
import { firmware } from './concerns/firmware.ts';
import { graphics } from './concerns/graphics.ts';
import { identity } from './concerns/identity.ts';
import { inputs } from './concerns/inputs.ts';
import { interfaces } from './concerns/interfaces.ts';
import { ioThreads } from './concerns/io-threads.ts';
import { lifecycle } from './concerns/lifecycle.ts';
import { memoryBacking } from './concerns/memory-backing.ts';
import { memory } from './concerns/memory.ts';
import { numa } from './concerns/numa.ts';
import { panic } from './concerns/panic.ts';
import { pinning } from './concerns/pinning.ts';
import { rng } from './concerns/rng.ts';
import { sound } from './concerns/sound.ts';
import { sysinfo } from './concerns/sysinfo.ts';
import { tpm } from './concerns/tpm.ts';
import { usbRedirection } from './concerns/usb-redirection.ts';
import { vsock } from './concerns/vsock.ts';
import { watchdog } from './concerns/watchdog.ts';
import { withDiskModes, type StorageProbe } from './disk-modes.ts';
import type { Domain, DomainPart } from './domain.ts';
import { withMemoryRoom } from './memory-room.ts';
import { withProtectedMemory } from './protected-memory.ts';
import { placeOnRootComplex } from './root-complex.ts';
import { refuse, unknownFeatures, unsupportedFeatures } from './unsupported.ts';
import { writeXml } from './xml.ts';

export { ConversionError } from './errors.ts';
export type { StorageProbe } from './disk-modes.ts';

/** Each concern owns its elements; none depends on another's, so their order only orders the XML. */
const concerns: Concern[] = [
  identity,
  memory,
  memoryBacking,
  cpu,
  ioThreads,
  pinning,
  numa,
  sysinfo,
  firmware,
  features,
  clock,
  lifecycle,
  disks,
  filesystems,
  controllers,
  interfaces,
  channels,
  consoles,
  inputs,
  tpm,
  graphics,
  sound,
  watchdog,
  vsock,
  rng,
  panic,
  usbRedirection,
  balloon,
];

const empty: Domain = {
  '@type': 'kvm',
  name: '',
  memory: { '@unit': 'b', '#text': 0 },
  vcpu: { '@placement': 'static', '#text': 1 },
  os: { type: { '@arch': '', '@machine': '', '#text': 'hvm' } },
  features: {},
  cpu: { '@mode': 'host-model', topology: { '@sockets': 1, '@cores': 1, '@threads': 1 } },
  devices: {},
};

const add = (domain: Domain, part: DomainPart): Domain => ({
  ...domain,
  ...part,
  devices: { ...domain.devices, ...part.devices },
});

/**
 * The domain of a VMI whose defaults are filled in, for QEMU 7.2. Pure.
 * @throws ConversionError naming the field, for what the VMI asks and no domain can be, or virtflow does not support yet
 */
export function toDomain(vmi: VirtualMachineInstance, host: HostFacts): Domain {
  refuse(unknownFeatures(vmi));
  const domain = concerns.reduce((domain, concern) => add(domain, concern(vmi, host)), empty);
  return placeOnRootComplex(withProtectedMemory(domain, vmi), vmi);
}

/** The domain as XML for libvirt 9.0. With `storage` disks get the cache and IO modes that suit where their images lie. @throws ConversionError */
export function toDomainXml(vmi: VirtualMachineInstance, host: HostFacts, storage?: StorageProbe): string {
  refuse(unsupportedFeatures(vmi));
  const domain = withMemoryRoom(toDomain(vmi, host));
  return writeXml(storage ? withDiskModes(domain, storage) : domain);
}
