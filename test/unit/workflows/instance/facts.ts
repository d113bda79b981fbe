import type { InstanceFacts, PodFacts } from '../../../../api/contract/facts.ts';
import type { DomainReport, DomainState } from '../../../../api/launcher/reports.ts';
import { decide } from '../../../../workflows/instance/decide.ts';
import type { Found } from '../../../../workflows/instance/found.ts';
import type { InstanceCommand, InstanceEvent, InstanceState } from '../../../../workflows/instance/state.ts';
import { initialState } from '../../../../workflows/instance/state.ts';

export const vmi = { namespace: 'default', name: 'vm-a', uid: 'u1' };
export const at = '2026-01-01T00:00:00.000Z';

export const instance = (change: Partial<InstanceFacts> = {}): InstanceFacts => ({
  ...{ vmi, resourceVersion: '1', phase: 'Pending', deleting: false, gracePeriodSeconds: 30, finalizers: [] },
  ...{ ready: false, paused: false, ...change },
});

export const pod = (change: Partial<PodFacts> = {}): PodFacts => ({
  ...{ name: 'p1', uid: 'p1', resourceVersion: '1', createdBy: vmi.uid, node: 'n1', phase: 'Running' },
  ...{ deleting: false, computeReady: true, provenEnded: false, ...change },
});

export const domain = (state: DomainState, change: Partial<DomainReport> = {}): DomainReport => ({
  ...{ vmi, podUid: 'p1', node: 'n1', sequence: { epoch: 1, n: 1 }, at, state, agent: { connected: false }, ...change },
});

export const found = (change: Partial<Found> = {}): Found => ({
  instance: instance(),
  pods: [],
  domains: {},
  ...change,
});

/** The token as the VMI of these tests holds it for Pod p1. */
export const heldToken = { epoch: 3, holder: { vmiUid: vmi.uid, attempt: 2, podUid: 'p1', podName: 'p1', node: 'n1' } };

export interface Run {
  state: InstanceState;
  /** Of the last event. */
  commands: InstanceCommand[];
}

/** What an entity has come to after these events. */
export const after = (...events: InstanceEvent[]): Run =>
  events.reduce<Run>(({ state }, event) => decide(state, event, at), { state: initialState(vmi), commands: [] });

export const seen: InstanceEvent = { type: 'instanceObserved', facts: instance() };
export const adoptedAs = (change: Partial<Found> = {}): InstanceEvent[] => [
  seen,
  { type: 'adopted', found: found(change) },
];

/** Its guest runs in p1 on n1 under epoch 1. */
export const running: InstanceEvent[] = [
  ...adoptedAs(),
  {
    type: 'operationFinished',
    finished: {
      ...{ operationId: 'vmi-start/u1/1', kind: 'start', outcome: 'succeeded' },
      ...{ pod: { name: 'p1', uid: 'p1', node: 'n1' }, epoch: 1 },
    },
  },
];

/** A command in a word. */
export const words = (commands: InstanceCommand[]): string[] =>
  commands.map((command) => {
    switch (command.type) {
      case 'begin':
        return command.operation.kind === 'shutdown'
          ? `begin ${command.id} ${command.operation.cause}`
          : `begin ${command.id}`;
      case 'forward':
        return `forward ${command.message.signal}`;
      case 'answer':
        return command.answer.accepted ? 'accept' : `refuse ${command.answer.failure.type}`;
      default:
        return command.type;
    }
  });
