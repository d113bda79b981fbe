import type { HostFacts } from '../../../../api/launcher/host-facts.ts';
import type { DomainSpec, VirtualMachineInstance, VirtualMachineInstanceSpec } from '../../../../api/kubevirt/types.ts';
import type { Devices as DomainDevices, DomainPart } from '../../../../launcher/converter/domain.ts';

/** A host without KVM, with whatever a test changes. */
export const host = (changes: Partial<HostFacts> = {}): HostFacts => ({
  useEmulation: true,
  kvmAvailable: false,
  memBalloonStatsPeriod: 10,
  serialConsoleLog: true,
  freePageReporting: true,
  bochsForEFIGuests: true,
  cpuSet: [],
  isBlockVolume: {},
  domainAttachment: {},
  ...changes,
});

interface Changes extends Omit<Partial<VirtualMachineInstance>, 'spec'> {
  spec?: Partial<Omit<VirtualMachineInstanceSpec, 'domain'>>;
  domain?: Partial<DomainSpec>;
}

/** A small VMI, with whatever a test changes in its domain, its spec or beside it. */
export const vmi = ({ domain, spec, ...rest }: Changes = {}): VirtualMachineInstance => ({
  metadata: { name: 'finch', namespace: 'aviary', uid: '0b1c' },
  ...rest,
  spec: {
    architecture: 'amd64',
    ...spec,
    domain: {
      cpu: { sockets: 1, cores: 1, threads: 1 },
      memory: { guest: '128Mi' },
      features: {},
      devices: {},
      ...domain,
    },
  },
});

/** A VMI with these devices. */
export const withDevices = (devices: DomainSpec['devices'], changes: Changes = {}): VirtualMachineInstance =>
  vmi({ ...changes, domain: { ...changes.domain, devices } });

/** A VMI with one disk per volume, all of the kinds given. */
export const withDisks = (
  disks: NonNullable<DomainSpec['devices']['disks']>,
  volumes: NonNullable<VirtualMachineInstanceSpec['volumes']> = disks.map(({ name }) => ({
    name,
    persistentVolumeClaim: { claimName: name },
  })),
  changes: Changes = {},
): VirtualMachineInstance =>
  withDevices({ ...changes.domain?.devices, disks }, { ...changes, spec: { ...changes.spec, volumes } });

export const devicesOf = (part: DomainPart): DomainDevices => part.devices ?? {};
