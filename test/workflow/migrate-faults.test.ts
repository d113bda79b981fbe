import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Fault } from '../support/fakes/faults.ts';
import { newLab } from '../support/fakes/lab.ts';
import { begin, migrate, story } from '../support/fakes/migrating.ts';
import { cancelled, outcome } from '../support/fakes/operations.ts';
import { recordedCalls } from '../support/fakes/recorded.ts';
import { TARGET_NODE } from '../support/fakes/world.ts';

const lab = await newLab();
await lab.startNode(TARGET_NODE);
afterAll(() => lab.close());
beforeEach(() => void lab.reset());

lab.reset();
const good = await migrate(lab);
const { steps } = await outcome(good.operation);
const calls = await recordedCalls(good.operation);
/** Writes of the status do not hold the story up, and may be fewer. */
const ofSteps = calls.filter(({ activity }) => activity !== 'publishMigration');
const stepOrder = steps.map(({ name }) => name);
const isForward = (step: string): boolean => stepOrder.indexOf(step) > stepOrder.indexOf('MigrateVMI');

const inTarget = { guest: 'target', left: [], pods: 1, phase: 'Succeeded' };
const inSource = { guest: 'source', left: [], pods: 1, phase: 'Failed' };

const run = async (fault: Fault | ((id: string) => Fault)) => {
  const before = (id: string): void => void (lab.fault = typeof fault === 'function' ? fault(id) : fault);
  const migrating = await migrate(lab, { before });
  const { guest, left, pods, report, failure, ending } = await story(lab, migrating);
  return { ends: { guest, left, pods, phase: report.phase }, failure, ending, report, migrating };
};

test('every step of a migration is reached by an activity, or asks another workflow', () => {
  const reached = new Set(calls.map(({ step }) => step));
  expect(stepOrder.filter((name) => !reached.has(name))).toEqual(['ProposeMigration', 'AwaitTargetPod']);
});

describe.each(ofSteps)('$step ($activity, $nth)', ({ activity, nth, step }) => {
  const at = { at: nth, of: activity };

  test.each(['before', 'after', 'twice', 'round'] as const)(
    'carries on when it fails or repeats once: %s',
    async (kind) => {
      const { ends, failure } = await run({ ...at, kind });
      expect({ ...ends, failure }).toEqual({ ...inTarget, failure: undefined });
    },
  );

  test('fails for good: before the guest moves everything is taken back, afterwards it is tried until it is done', async () => {
    const { ends, failure } = await run({ ...at, kind: 'forGood' });
    if (isForward(step)) return expect(ends).toEqual(inTarget);
    expect(ends).toEqual(inSource);
    expect(failure?.message).toContain('refused for good');
  });

  test('is cancelled there: the guest is in one of the two, and nothing is left of the other', async () => {
    const { ends, report } = await run((id) => ({ ...at, kind: 'meanwhile', run: () => cancelled(lab, id) }));
    expect(ends).toEqual(isForward(step) ? inTarget : inSource);
    expect(report.abort).toBe(ends.phase === 'Failed' ? 'succeeded' : report.abort && 'failed');
  });

  test('is terminated there and run again: the guest is in one of the two, and nothing is left of the other', async () => {
    const terminate = (id: string) => lab.env.client.workflow.getHandle(id).terminate();
    const before = (id: string): void => void (lab.fault = { ...at, kind: 'meanwhile', run: () => terminate(id) });
    const migrating = await migrate(lab, { before });
    await migrating.operation.result().catch(() => undefined);
    lab.fault = undefined;
    // A status that was written before stays, if the second run finds nothing more to do.
    const { guest, left, pods, report } = await story(lab, migrating, await begin(lab, migrating));
    expect({ guest, left, pods, phase: report.phase }).toEqual(guest === 'target' ? inTarget : inSource);
  });
});
