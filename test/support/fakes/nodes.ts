/* eslint-disable @typescript-eslint/require-await -- activities are asynchronous by contract; these act at once */
import type { ControllerActivities, NodeActivities } from '../../../api/contract/activities.ts';
import type { DeletedNode, Fence, NodeReport } from '../../../api/contract/nodes.ts';
import type { FakePod, FakeVmi, News } from './world.ts';

/** Nodes of the simulated cluster: which machines are off, which are fenced, and what their workflows have done. */
export interface FakeNodes {
  controller: Pick<
    ControllerActivities,
    'closeNode' | 'openNode' | 'recordFence' | 'liftFence' | 'tellInstances' | 'assessDeletedNode'
  >;
  node: Pick<NodeActivities, 'stopFencedDomains'>;
  /** What was done, in order. */
  done: string[];
  records: Map<string, Fence>;
  /** What the API server and Temporal say of a deleted Node. */
  deleted: DeletedNode;
  /** The worker has not been heard of since the fence was put on record. */
  isGivenNoSign: boolean;
  /** The machine stops: its guests are gone, and nobody says so. */
  switchOff(node: string): void;
  /** Somebody vouches for that. */
  fence(node: string): void;
  isOff(node: string | undefined): boolean;
  isFenced(node: string | undefined): boolean;
}

export const newNodes = (parts: {
  pods: Map<string, FakePod>;
  vmis: Map<string, FakeVmi>;
  refuse: (activity: string) => void;
  told: (news: News) => Promise<void>;
}): FakeNodes => {
  const off = new Set<string>();
  const fenced = new Set<string>();

  const instancesOn = (report: NodeReport): FakeVmi[] =>
    [...parts.pods.values()]
      .filter(({ facts }) => facts.node === report.node)
      .flatMap(({ facts }) => parts.vmis.get(facts.createdBy) ?? []);

  const fake: FakeNodes = {
    done: [],
    records: new Map(),
    deleted: { outcome: 'registered' },
    isGivenNoSign: false,
    switchOff: (node) => {
      off.add(node);
      for (const pod of parts.pods.values()) if (pod.facts.node === node) pod.domain = { ...pod.domain, state: 'none' };
    },
    fence: (node) => void fenced.add(node),
    isOff: (node) => node !== undefined && off.has(node),
    isFenced: (node) => node !== undefined && fenced.has(node),
    controller: {
      closeNode: async ({ node }) => {
        parts.refuse('closeNode');
        fake.done.push(`close ${node.name}`);
      },
      openNode: async ({ node }) => {
        fake.done.push(`open ${node.name}`);
      },
      recordFence: async ({ node, fence }) => {
        fake.done.push(`record ${fence.by}`);
        fake.records.set(node.name, fence);
      },
      liftFence: async ({ node }) => {
        fake.done.push('lift');
        if (fake.isGivenNoSign) return { waits: fake.records.has(node.name) };
        fake.records.delete(node.name);
        return { waits: false };
      },
      tellInstances: async ({ report }) => {
        fake.done.push(`tell ${report.standing}`);
        const vmis = instancesOn(report);
        for (const { facts } of vmis) await parts.told({ kind: 'node', report, vmi: facts.vmi });
        return { told: vmis.map(({ facts }) => facts.vmi.uid) };
      },
      assessDeletedNode: async () => {
        fake.done.push('assess');
        return fake.deleted;
      },
    },
    node: {
      stopFencedDomains: async ({ node }) => {
        fake.done.push(`stop on ${node.name}`);
        return { stopped: [] };
      },
    },
  };
  return fake;
};
