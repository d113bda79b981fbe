/* eslint-disable @typescript-eslint/require-await -- activities are asynchronous by contract; these act at once */
import { activityInfo } from '@temporalio/activity';
import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { Replica, ReplicaSetReport, ReplicaSetView } from '../../../api/contract/replica-sets.ts';

/** A replica set of the simulated cluster; its VMIs are created and deleted at once. */
export interface FakeReplicaSet {
  controller: Pick<ControllerActivities, 'claimReplicas' | 'createReplicas' | 'deleteReplicas' | 'publishReplicaSet'>;
  view: ReplicaSetView;
  /** Numbers that were created, in order. */
  created: number[];
  deleted: string[];
  reports: ReplicaSetReport[];
  /** What becomes of the VMI with this name. */
  change(name: string, more: Partial<Replica>): void;
}

export const newReplicaSet = (parts: { refuse: (activity: string) => void }): FakeReplicaSet => {
  const fake: FakeReplicaSet = {
    view: { deleting: false, paused: false, wanted: 0, replicas: [] },
    created: [],
    deleted: [],
    reports: [],
    change: (name, more) => {
      fake.view.replicas = fake.view.replicas.map((one) => (one.vmi.name === name ? { ...one, ...more } : one));
    },
    controller: {
      claimReplicas: async () => structuredClone(fake.view),
      createReplicas: async ({ set, numbers }) => {
        parts.refuse('createReplicas');
        for (const number of numbers) {
          const name = `${set.name}-${number}`;
          if (fake.view.replicas.some(({ vmi }) => vmi.name === name)) continue;
          fake.created.push(number);
          const vmi = { namespace: set.namespace, name, uid: `vmi-${name}-${fake.created.length}` };
          // The server's time: it may skip some.
          const createdAt = new Date(activityInfo().currentAttemptScheduledTimestampMs).toISOString();
          fake.view.replicas.push({ vmi, standing: 'active', ready: false, createdAt });
        }
      },
      deleteReplicas: async ({ vmis }) => {
        parts.refuse('deleteReplicas');
        for (const { uid, name } of vmis) {
          fake.deleted.push(name);
          fake.view.replicas = fake.view.replicas.filter((one) => one.vmi.uid !== uid);
        }
      },
      publishReplicaSet: async ({ report }) => {
        parts.refuse('publishReplicaSet');
        if (JSON.stringify(fake.reports.at(-1)) !== JSON.stringify(report)) fake.reports.push(report);
      },
    },
  };
  return fake;
};
