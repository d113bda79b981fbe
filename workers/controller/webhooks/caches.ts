import type { Informers } from '../informers/informers.ts';
import type { AdmissionPorts } from './ports.ts';

/** What admission looks at first. */
export const admissionCaches = (
  informers: Pick<Informers, 'VirtualMachineInstance' | 'VirtualMachineInstanceMigration'>,
): AdmissionPorts['cached'] => ({
  instance: (namespace, name) =>
    informers.VirtualMachineInstance.list().find(
      ({ metadata }) => metadata?.name === name && metadata.namespace === namespace,
    ),
  migrations: (namespace) =>
    informers.VirtualMachineInstanceMigration.list().filter(({ metadata }) => metadata?.namespace === namespace),
});
