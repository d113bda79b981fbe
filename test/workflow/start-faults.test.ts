import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { OperationStatus } from '../../api/contract/operations.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { startId } from '../../api/contract/refs.ts';
import type { Fault } from '../support/fakes/faults.ts';
import { newLab } from '../support/fakes/lab.ts';
import type { Operation } from '../support/fakes/operations.ts';
import { cancelled, newVmi, outcome, shutdown, start, untilStep } from '../support/fakes/operations.ts';
import { recordedCalls } from '../support/fakes/recorded.ts';

const lab = await newLab();
afterAll(() => lab.close());
beforeEach(() => void lab.reset());

const good = await start(lab, newVmi(lab));
const { steps } = await good.result();
const calls = (await recordedCalls(good)).filter(({ activity }) => activity !== 'publishInstance');

/** What the entity does next: a Pod that is left over is shut down. Afterwards nothing may be left. */
const expectNothingLeft = async (vmi: ObjectRef, status: Partial<OperationStatus>): Promise<void> => {
  lab.fault = undefined;
  const { pod, epoch } = status;
  if (pod !== undefined) {
    const cause = 'startCancelled';
    await (await shutdown(lab, vmi, { pod, cause, ...(epoch === undefined ? {} : { epoch }) })).result();
  }
  expect(lab.world.leftovers(vmi)).toEqual([]);
  expect(lab.world.violations).toEqual([]);
};

const run = async (
  fault: Fault,
): Promise<{ vmi: ObjectRef; operation: Operation; status: Partial<OperationStatus> }> => {
  const vmi = newVmi(lab);
  lab.fault = fault;
  const operation = await start(lab, vmi);
  return { vmi, operation, status: await outcome(operation) };
};

test('every step of a start is reached by an activity or decides on what was told', () => {
  expect(steps.map(({ name }) => name).filter((name) => !calls.some(({ step }) => step === name))).toEqual([
    ...['AwaitNode', 'AwaitPod', 'AwaitRunning'],
  ]);
});

test('a status that cannot be written is left to the entity', async () => {
  const vmi = newVmi(lab);
  lab.fault = { at: 0, of: 'publishInstance', kind: 'forGood' };
  const { start: shown } = await (await start(lab, vmi)).result();
  expect(shown?.phaseTimes.map(({ phase }) => phase)).toEqual(['Scheduling', 'Scheduled', 'Running']);
  expect(lab.world.vmis.get(vmi.uid)?.reports.map(({ phase }) => phase)).toEqual(['Running']);
});

describe.each(calls)('$step ($activity)', ({ nth, activity, step }) => {
  const at = { at: nth, of: activity };

  test.each(['before', 'after', 'twice', 'round'] as const)(
    'carries on when it fails or repeats once: %s',
    async (kind) => {
      const { vmi, status } = await run({ ...at, kind });
      expect(status.failure).toBeUndefined();
      expect(lab.world.leftovers(vmi)).toEqual([`Pod pod-${vmi.uid}-1, domain running`, 'token']);
      if (kind === 'round') expect(status.steps?.find(({ name }) => name === step)?.attempts).toBe(2);
      await expectNothingLeft(vmi, status);
    },
  );

  test('takes everything back when it fails for good', async () => {
    const { vmi, status } = await run({ ...at, kind: 'forGood' });
    expect(status.failure).toEqual({ type: 'Forbidden', message: 'refused for good' });
    expect(status.steps?.find(({ state }) => state === 'failed')?.name).toBe(step);
    expect(lab.world.leftovers(vmi)).toEqual([]);
    await expectNothingLeft(vmi, status);
  });

  test('takes everything back, or hands the guest over, when it is cancelled there', async () => {
    const vmi = newVmi(lab);
    lab.fault = { ...at, kind: 'meanwhile', run: () => cancelled(lab, startId(vmi, 1)) };
    const status = (await outcome(await start(lab, vmi))) as OperationStatus;
    expect(status.failure?.type).toBe('Cancelled');
    await expectNothingLeft(vmi, status);
  });
});

test('cancelled while the domain starts: the guest is handed over to its shutdown', async () => {
  const vmi = newVmi(lab);
  lab.world.manners.startsAs = 'starting';
  const operation = await start(lab, vmi);
  await untilStep(operation, 'AwaitRunning');
  await operation.cancel();
  const status = (await outcome(operation)) as OperationStatus;
  expect(status).toMatchObject({ failure: { type: 'Cancelled' }, pod: { uid: `pod-${vmi.uid}-1` }, epoch: 1 });
  await expectNothingLeft(vmi, status);
});
