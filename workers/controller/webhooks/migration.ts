import { newMigration } from '../../../api/defaults/index.ts';
import type { VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import type { Cause, Surroundings } from '../../../api/validation/index.ts';
import { readNewMigration, validateMigration, validateMigrationUpdate } from '../../../api/validation/index.ts';
import { isSame, patchOf } from './patch.ts';
import type { AdmissionPorts } from './ports.ts';
import { requester } from './ports.ts';
import type { AdmissionRequest, Judge, Verdict } from './review.ts';
import { ALLOWED, refusedFor } from './review.ts';

/** Gives a new migration the label by which it is found, and its finalizer. */
export const mutateMigration = (): Judge => (request) => {
  const { object, operation } = request;
  if (object == null || operation !== 'CREATE') return ALLOWED;
  const read = readNewMigration(object);
  if (read.object === undefined) return refusedFor(request, read.causes);
  return { allowed: true, patch: patchOf(object, newMigration(read.object)) };
};

/** Refuses a migration that cannot be, and changes of one. */
export const validateMigrationRequest =
  (ports: AdmissionPorts): Judge =>
  async (request) => {
    const { object, oldObject, operation } = request;
    if (object == null) return ALLOWED;
    const read = readNewMigration(object);
    if (operation === 'UPDATE') return change(request, read, readNewMigration(oldObject ?? {}));
    if (read.object === undefined) return refusedFor(request, read.causes);
    const { namespace } = request;
    const migration = { ...read.object, metadata: { ...read.object.metadata, namespace } };
    const judge = (surroundings: Surroundings): Cause[] =>
      validateMigration(migration, surroundings, ports.config(), requester(ports, request));
    // A cache may be behind: what leads to a refusal is read again.
    const causes = judge(cached(ports, migration)).length === 0 ? [] : judge(await live(ports, migration));
    return causes.length > 0 ? refusedFor(request, causes) : { allowed: true, warnings: notYet(migration) };
  };

/** What is taken but cannot run yet. */
const notYet = ({ spec }: VirtualMachineInstanceMigration): string[] =>
  (['sendTo', 'receive'] as const).flatMap((field) =>
    spec[field] === undefined ? [] : [`spec.${field}: not supported yet: a VM moves between the nodes of one cluster`],
  );

type Read = ReturnType<typeof readNewMigration>;

const change = (request: AdmissionRequest, after: Read, before: Read): Verdict => {
  if (after.object !== undefined && before.object !== undefined)
    return refusedFor(request, validateMigrationUpdate(after.object, before.object));
  // One that was stored while nobody looked. Whoever takes away its finalizer must be able to.
  if (isSame(request.object?.['spec'], request.oldObject?.['spec'])) return ALLOWED;
  return refusedFor(request, after.causes.length > 0 ? after.causes : before.causes);
};

const cached = (
  { cached: caches }: AdmissionPorts,
  { metadata, spec }: VirtualMachineInstanceMigration,
): Surroundings => {
  const { namespace = '' } = metadata ?? {};
  const { vmiName = '' } = spec;
  return { vmi: caches.instance(namespace, vmiName), migrations: caches.migrations(namespace) };
};

const live = async (
  { kube }: AdmissionPorts,
  { metadata, spec }: VirtualMachineInstanceMigration,
): Promise<Surroundings> => {
  const { namespace = '' } = metadata ?? {};
  const { vmiName = '' } = spec;
  const [vmi, migrations] = await Promise.all([
    vmiName === '' ? undefined : kube.get('VirtualMachineInstance', { namespace, name: vmiName }),
    kube.list('VirtualMachineInstanceMigration', { namespace }),
  ]);
  return { vmi, migrations };
};
