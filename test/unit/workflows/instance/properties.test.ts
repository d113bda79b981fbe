import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PodFacts } from '../../../../api/contract/facts.ts';
import type { DomainState } from '../../../../api/launcher/reports.ts';
import { decide } from '../../../../workflows/instance/decide.ts';
import { reasonToStop } from '../../../../workflows/instance/ending.ts';
import type { InstanceCommand, InstanceEvent, InstanceState } from '../../../../workflows/instance/state.ts';
import { initialState, isOver } from '../../../../workflows/instance/state.ts';
import { at, domain, found, heldToken, instance, pod, vmi } from './facts.ts';

const STATES: DomainState[] = [
  ...(['none', 'starting', 'incoming', 'running', 'paused', 'shuttingDown', 'shutoff', 'crashed'] as const),
];
const migrationId = 'migration/default/mig-1/m1';
const migration = { namespace: 'default', name: 'mig-1', uid: 'm1' };
const targetRef = { name: 'p2', uid: 'p2', node: 'n2' };
const PHASES = ['Pending', 'Scheduling', 'Running', 'Succeeded', 'Failed'] as const;
const moving = { ...heldToken, moving: { migration, podUid: 'p2', podName: 'p2', node: 'n2' } };
const podRef = { name: 'p1', uid: 'p1', node: 'n1' };
const failure = fc.constantFrom(
  ...(['DomainFailed', 'PodFailed', 'InvalidSpec', 'Cancelled', 'Unknown'] as const).map((type) => ({
    type,
    message: '',
  })),
);

/** Whatever may come in, in whatever order: `id` stands for the operation under way. */
const anyEvent = (id: string): fc.Arbitrary<InstanceEvent> => {
  const kind = id.startsWith('vmi-start') ? ('start' as const) : ('shutdown' as const);
  const ofOther = id.startsWith('migration') ? ofMigration : ofStartOrShutdown(id, kind);
  return fc.oneof(
    ofOther,
    ofOther,
    fc.constantFrom(migrationId, 'migration/default/mig-2/m2').map((operationId): InstanceEvent => ({
      type: 'migrationProposed',
      proposal: { operationId, migration: { ...migration, uid: operationId.slice(-2) } },
    })),
    fc.record({
      type: fc.constant('instanceObserved' as const),
      facts: fc
        .record({
          deleting: fc.boolean(),
          gone: fc.boolean(),
          gracePeriodSeconds: fc.constantFrom(0, 30),
          resourceVersion: fc.constantFrom('1', '2'),
        })
        .map(({ gone, ...facts }) => instance({ ...facts, ...(gone && facts.deleting ? { gone } : {}) })),
    }),
    fc.record({
      type: fc.constant('podObserved' as const),
      facts: fc
        .record({ uid: fc.constantFrom('p1', 'p2'), deleting: fc.boolean(), provenEnded: fc.boolean() })
        .map(pod),
    }),
    fc.record({
      type: fc.constant('domainReported' as const),
      report: fc
        .record({ state: fc.constantFrom(...STATES), podUid: fc.constantFrom('p1', 'p2'), n: fc.nat(20) })
        .map(({ state, podUid, n }) => domain(state, { podUid, sequence: { epoch: 1, n } })),
    }),
    fc.constant<InstanceEvent>({ type: 'dependencyChanged', kind: 'ResourceQuota', name: 'q' }),
    fc
      .record({ node: fc.constantFrom('n1', 'n2'), standing: fc.constantFrom('responsive', 'silent', 'fenced') })
      .map((report): InstanceEvent => ({ type: 'nodeReported', report: { ...report, message: '' } })),
    fc.constant<InstanceEvent>({ type: 'retryRequested' }),
    fc.constant<InstanceEvent>({ type: 'timerFired' }),
    fc.constantFrom(id, migrationId).map((lost): InstanceEvent => ({ type: 'operationLost', id: lost })),
    ofMigration,
    fc.boolean().map((isOpen): InstanceEvent => ({ type: 'operationExists', id, isOpen })),
  );
};

/** What a migration says, also one that the entity does not know. */
const ofMigration: fc.Arbitrary<InstanceEvent> = fc.oneof(
  fc.constantFrom(...PHASES).map((phase): InstanceEvent => ({
    type: 'operationProgress',
    progress: {
      ...{ operationId: migrationId, kind: 'migrate', phase },
      ...(phase === 'Succeeded' ? { pod: targetRef, epoch: 2 } : {}),
      migration: { migration, phase, phaseTimes: [], ...(phase === 'Pending' ? {} : { target: targetRef }) },
    },
  })),
  fc.constant<InstanceEvent>({
    type: 'operationProgress',
    progress: {
      ...{ operationId: migrationId, kind: 'migrate', phase: 'Failed' },
      migration: { migration, phase: 'Failed', phaseTimes: [], target: targetRef, stays: true },
    },
  }),
  fc.constantFrom('succeeded', 'failed', 'cancelled', 'lost').map((outcome): InstanceEvent => ({
    type: 'operationFinished',
    finished: {
      ...{ operationId: migrationId, kind: 'migrate' },
      ...(outcome === 'lost' ? { outcome: 'failed', end: 'unknown' } : { outcome: outcome }),
      ...(outcome === 'succeeded' ? { pod: targetRef, epoch: 2 } : {}),
      migration: {
        migration,
        phase: outcome === 'succeeded' ? 'Succeeded' : 'Failed',
        phaseTimes: [],
        target: targetRef,
      },
    },
  })),
);

const ofStartOrShutdown = (id: string, kind: 'start' | 'shutdown'): fc.Arbitrary<InstanceEvent> =>
  fc.oneof(
    fc
      .record({ phase: fc.constantFrom('Pending', 'Scheduling', 'Scheduled', 'Running'), hasPod: fc.boolean() })
      .map(({ phase, hasPod }): InstanceEvent => ({
        type: 'operationProgress',
        progress: { operationId: id, kind, phase, ...(hasPod ? { pod: podRef, epoch: 1 } : {}) },
      })),
    fc
      .record({
        outcome: fc.constantFrom('succeeded', 'failed', 'cancelled'),
        failure,
        hasPod: fc.boolean(),
        end: fc.constantFrom('acpiShutdown', 'crashed', 'neverRan', 'unknown'),
      })
      .map(({ outcome, hasPod, ...rest }): InstanceEvent => ({
        type: 'operationFinished',
        finished: {
          ...{ operationId: id, kind, outcome },
          ...(hasPod || (kind === 'start' && outcome === 'succeeded') ? { pod: podRef, epoch: 1 } : {}),
          ...(outcome === 'succeeded' ? {} : { failure: rest.failure }),
          ...(kind === 'shutdown' && outcome === 'succeeded' ? { end: rest.end } : {}),
        },
      })),
  );

/** Answers that come only when they were asked for. */
const answers = (commands: InstanceCommand[]): fc.Arbitrary<InstanceEvent>[] =>
  commands.flatMap((command): fc.Arbitrary<InstanceEvent>[] => {
    if (command.type === 'release') return [fc.constant({ type: 'released' })];
    if (command.type !== 'adopt') return [];
    const world = fc.record({
      pods: fc.constantFrom<PodFacts[][]>(
        [],
        [pod()],
        [pod(), pod({ uid: 'p2', name: 'p2' })],
        [pod(), pod({ uid: 'p2', name: 'p2', migration })],
      ),
      state: fc.option(fc.constantFrom(...STATES)),
      held: fc.constantFrom(undefined, heldToken, moving),
      deleting: fc.boolean(),
      phase: fc.constantFrom('', 'Pending', 'Scheduled', 'Running', 'Failed'),
    });
    return [
      world.map(({ pods, state, held, deleting, phase }): InstanceEvent => ({
        type: 'adopted',
        found: found({
          instance: instance({ deleting, phase }),
          pods,
          ...(held === undefined ? {} : { token: held }),
          domains: state === null ? {} : { p1: domain(state) },
        }),
      })),
    ];
  });

interface Step {
  before: InstanceState;
  event: InstanceEvent;
  after: InstanceState;
  commands: InstanceCommand[];
}

/** A life of an entity: each event is drawn from what can come in the state that the last one led to. */
const lives = fc.gen().map((draw): Step[] => {
  const steps: Step[] = [];
  let state = initialState(vmi);
  let asked: InstanceCommand[] = [];
  const length = draw(fc.nat, { max: 30 });
  for (let n = 0; n < length && !isOver(state); n += 1) {
    const id = state.operation?.id ?? 'vmi-start/u1/0';
    const open = answers(asked);
    const event = draw(() => fc.oneof(anyEvent(id), ...open, ...open));
    if (event.type === 'adopted' || event.type === 'released') asked = [];
    const decision = decide(state, event, at);
    steps.push({ before: state, event, after: decision.state, commands: decision.commands });
    state = decision.state;
    asked = [...asked, ...decision.commands.filter(({ type }) => type === 'adopt' || type === 'release')];
  }
  return steps;
});

const holdsAlways = (holds: (step: Step) => void): void =>
  fc.assert(
    fc.property(lives, (steps) => steps.forEach(holds)),
    { numRuns: 150, endOnFailure: true },
  );
const begun = ({ commands }: Step): InstanceCommand[] => commands.filter(({ type }) => type === 'begin');

const endsOperation = ({ type }: InstanceEvent): boolean =>
  type === 'operationFinished' || type === 'operationLost' || type === 'operationExists';

test('there are never two operations at once; only a migration that clears up has a shutdown beside it', () =>
  holdsAlways((step) => {
    expect(begun(step).length).toBeLessThanOrEqual(1);
    const isSetAside = step.before.clearing === undefined && step.after.clearing !== undefined;
    if (begun(step).length === 1 && step.before.operation !== undefined && !isSetAside)
      expect(endsOperation(step.event)).toBe(true);
    if (step.after.clearing !== undefined) expect(step.after.operation?.kind ?? 'shutdown').toBe('shutdown');
    expect(begun(step).length === 1 ? step.after.operation : {}).toBeDefined();
  }));

test('nothing that acts on the VM is commanded before the world was looked at', () =>
  holdsAlways(({ after, commands }) => {
    if (after.adoption !== 'done')
      expect(commands.filter(({ type }) => type !== 'adopt' && type !== 'forward')).toEqual([]);
  }));

test('nothing is started for a VMI that shall end, or has ended', () =>
  holdsAlways((step) => {
    const isStart = begun(step).some((command) => command.type === 'begin' && command.operation.kind === 'start');
    if (isStart) expect([step.after.object?.deleting ?? false, step.after.end]).toEqual([false, undefined]);
  }));

test('nothing is started while a Pod is left that may hold the domain', () =>
  holdsAlways((step) => {
    const isStart = begun(step).some((command) => command.type === 'begin' && command.operation.kind === 'start');
    if (isStart) expect([step.after.pod, step.after.leftovers]).toEqual([undefined, []]);
  }));

test('finalizers go only when no Pod is left and no operation runs', () =>
  holdsAlways(({ after, commands }) => {
    if (commands.some(({ type }) => type === 'release'))
      expect([after.pod, after.operation, after.clearing]).toEqual([undefined, undefined, undefined]);
  }));

test('attempts only grow, so that no operation id is used twice', () =>
  holdsAlways(({ before, after }) => {
    expect(after.attempts.start).toBeGreaterThanOrEqual(before.attempts.start);
    expect(after.attempts.shutdown).toBeGreaterThanOrEqual(before.attempts.shutdown);
  }));

test('nothing is begun while the token says that the guest moves, but the migration that moves it', () =>
  holdsAlways((step) => {
    const isAdopted = step.event.type === 'adopted' && step.event.found.token?.moving !== undefined;
    const isWaited = !isAdopted || step.after.operation?.kind === 'migrate' || step.after.settled.includes('m1');
    expect(isWaited || step.after.adoption !== 'done').toBe(true);
  }));

test('a Pod that is to be shut down as a leftover is never the one that holds the guest', () =>
  holdsAlways(({ after }) => {
    expect(after.leftovers.map(({ uid }) => uid)).not.toContain(after.pod?.uid);
  }));

test('a migration is set aside only once the token says that the guest stays, and its target is nobody else’s to remove', () =>
  holdsAlways(({ before, after }) => {
    if (before.clearing === undefined && after.clearing !== undefined && before.adoption === 'done')
      expect(before.operation?.stays ?? after.clearing.id === before.operation?.id).toBe(true);
    if (after.clearing !== undefined)
      expect(after.leftovers.map(({ uid }) => uid)).not.toContain(after.target?.pod.uid);
  }));

test('a final phase stays', () =>
  holdsAlways(({ before, after }) => {
    if (before.phase === 'Succeeded' || before.phase === 'Failed') expect(after.phase).toBe(before.phase);
  }));

test('the state survives JSON, as continue-as-new carries it', () =>
  holdsAlways(({ after }) => expect(JSON.parse(JSON.stringify(after))).toEqual(after)));

test('a retry of a failed operation begins one, unless nothing is left to do', () =>
  holdsAlways(({ after }) => {
    if (after.failed === undefined || after.operation !== undefined || after.adoption !== 'done') return;
    const { commands, state } = decide(after, { type: 'retryRequested' }, at);
    const isAtRest = state.end !== undefined || state.object?.gone === true || (state.started && !mustEnd(state));
    expect([commands.some(({ type }) => type === 'begin' || type === 'release') || isAtRest, state.failed]).toEqual([
      true,
      undefined,
    ]);
  }));

const mustEnd = (state: InstanceState): boolean => reasonToStop(state) !== undefined;

test('the lives that these properties walk reach every kind of command', () => {
  const words = fc
    .sample(lives, { numRuns: 300, seed: 1 })
    .flat()
    .flatMap(({ commands }) => commands)
    .map((command) => (command.type === 'begin' ? command.operation.kind : command.type));
  expect([...new Set(words)].sort()).toEqual([
    ...['adopt', 'answer', 'cancel', 'forward', 'migrate', 'release', 'shutdown', 'start'],
  ]);
});
