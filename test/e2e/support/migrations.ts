import type { VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { until } from '../../support/until.ts';
import { apply, getObject, kubectl } from './kubectl.ts';
import { mountsOfGonePods, tracesOf, untilNone } from './leftovers.ts';
import { NAMESPACE } from './vms.ts';

/** Creates a VMIM, as `virtctl migrate` does. */
export const createMigration = (
  name: string,
  vmiName: string,
  spec: object = {},
  namespace = NAMESPACE,
): Promise<string> =>
  apply({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: { name, namespace },
    spec: { vmiName, ...spec },
  });

export const getMigration = (
  name: string,
  namespace = NAMESPACE,
): Promise<VirtualMachineInstanceMigration | undefined> => getObject('vmim', name, namespace);

export const deleteMigrations = (namespace = NAMESPACE): Promise<string> =>
  kubectl(['delete', 'vmim', '--all', '-n', namespace, '--wait', '--timeout=120s']);

export const isFinal = (migration: VirtualMachineInstanceMigration | undefined): boolean =>
  migration?.status?.phase === 'Succeeded' || migration?.status?.phase === 'Failed';

/** Waits until `holds` of the VMIM, and returns it; what the API server cannot tell now is asked again. */
export const untilMigration = (
  what: string,
  name: string,
  holds: (migration: VirtualMachineInstanceMigration) => boolean,
  timeoutMs = 120_000,
): Promise<VirtualMachineInstanceMigration> =>
  until(
    `VMIM ${name}: ${what}`,
    async () => {
      const migration = await getMigration(name).catch(() => undefined);
      return migration && holds(migration) ? migration : undefined;
    },
    { timeoutMs, everyMs: 200 },
  );

export const untilOver = (name: string, timeoutMs = 120_000): Promise<VirtualMachineInstanceMigration> =>
  untilMigration('Succeeded or Failed', name, isFinal, timeoutMs);

/** What a migration that is over must not leave behind while its VM runs on, one sentence each. */
export async function migrationLeftovers(vm: string): Promise<string[]> {
  const { pods, token, holder, processes } = await tracesOf(vm);
  const live = pods.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
  const named = holder?.pod?.uid;
  return [
    ...(live.length === 1 ? [] : [`${live.length} launcher Pods are there`]),
    ...(processes.length === 1 ? [] : [`${processes.length} QEMU processes are there`]),
    ...(token?.moving === undefined ? [] : ['the run token is still moving']),
    ...(live.length === 1 && live[0]?.metadata?.uid !== named ? [`the run token names Pod ${named}`] : []),
    ...(await mountsOfGonePods()),
  ];
}

/** Waits until one Pod, one QEMU and a settled token are left. @throws Error naming what is left */
export const untilSettled = (vm: string, timeoutMs = 60_000): Promise<void> =>
  untilNone(
    `nothing left of the migration of VM ${vm}`,
    () => migrationLeftovers(vm).catch((error: unknown) => [String(error)]),
    timeoutMs,
  );
