import type { Kind, Kinds } from '../../../activities/kube/port.ts';
import { APP_LABEL, LAUNCHER_APP } from '../../../activities/facts/labels.ts';
import type { Rest } from '../../../activities/kube/rest.ts';
import type { Logger } from '../../shared/logging.ts';
import type { Change } from '../../shared/informer.ts';
import { Informer } from '../../shared/informer.ts';

/** What the controller watches. */
const WATCHED = {
  VirtualMachine: {},
  VirtualMachineInstance: {},
  VirtualMachineInstanceMigration: {},
  VirtualMachineInstanceReplicaSet: {},
  KubeVirt: {},
  Pod: { labelSelector: `${APP_LABEL}=${LAUNCHER_APP}` },
  Node: {},
  PersistentVolumeClaim: {},
  ResourceQuota: {},
  VirtualMachineInstancetype: {},
  VirtualMachineClusterInstancetype: {},
  VirtualMachinePreference: {},
  VirtualMachineClusterPreference: {},
} as const satisfies Partial<Record<Kind, { labelSelector?: string }>>;

export type Watched = keyof typeof WATCHED;

export type Informers = { [K in Watched]: Informer<K> };

/** A change of an object of any watched kind. */
export type WatchedChange = { [K in Watched]: { kind: K } & Change<Kinds[K]> }[Watched];

/** One informer per kind; each change goes to `onChange`. */
export const createInformers = (rest: Rest, log: Logger, onChange: (change: WatchedChange) => void): Informers => {
  const create = <K extends Watched>(kind: K): Informer<K> =>
    new Informer<K>({
      rest,
      kind,
      ...WATCHED[kind],
      log,
      onChange: (change) => onChange({ kind, ...change } as WatchedChange),
    });
  return {
    VirtualMachine: create('VirtualMachine'),
    VirtualMachineInstance: create('VirtualMachineInstance'),
    VirtualMachineInstanceMigration: create('VirtualMachineInstanceMigration'),
    VirtualMachineInstanceReplicaSet: create('VirtualMachineInstanceReplicaSet'),
    KubeVirt: create('KubeVirt'),
    Pod: create('Pod'),
    Node: create('Node'),
    PersistentVolumeClaim: create('PersistentVolumeClaim'),
    ResourceQuota: create('ResourceQuota'),
    VirtualMachineInstancetype: create('VirtualMachineInstancetype'),
    VirtualMachineClusterInstancetype: create('VirtualMachineClusterInstancetype'),
    VirtualMachinePreference: create('VirtualMachinePreference'),
    VirtualMachineClusterPreference: create('VirtualMachineClusterPreference'),
  };
};
