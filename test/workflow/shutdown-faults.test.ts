import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { OperationStatus } from '../../api/contract/operations.ts';
import { shutdownId } from '../../api/contract/refs.ts';
import type { Fault } from '../support/fakes/faults.ts';
import { newLab } from '../support/fakes/lab.ts';
import { cancelled, outcome, runningVmi, shutdown } from '../support/fakes/operations.ts';
import { recordedCalls } from '../support/fakes/recorded.ts';

const lab = await newLab();
afterAll(() => lab.close());
beforeEach(() => void lab.reset());

const running = await runningVmi(lab);
const good = await shutdown(lab, running.vmi, running);
await good.result();
const calls = await recordedCalls(good);

const run = async (faultOf: (workflowId: string) => Fault) => {
  const running = await runningVmi(lab);
  lab.fault = faultOf(shutdownId(running.vmi, 1));
  const status = (await outcome(await shutdown(lab, running.vmi, running))) as Partial<OperationStatus>;
  lab.fault = undefined;
  return { ...running, status };
};

/** The entity tells the next attempt how the guest ended, if the failed one knew. */
const endOf = ({ status: { end } }: Awaited<ReturnType<typeof run>>) => (end === undefined ? {} : { end });

const expectNothingLeft = ({ vmi }: Awaited<ReturnType<typeof run>>): void => {
  expect(lab.world.leftovers(vmi)).toEqual([]);
  expect(lab.world.violations).toEqual([]);
};

describe.each(calls)('$step ($activity)', ({ at }) => {
  test.each(['before', 'after', 'twice', 'round'] as const)(
    'carries on when it fails or repeats once: %s',
    async (kind) => {
      const ended = await run(() => ({ at, kind }));
      expect(ended.status).toMatchObject({ end: 'acpiShutdown' });
      expect(ended.status.failure).toBeUndefined();
      expectNothingLeft(ended);
    },
  );

  test('fails when it fails for good, keeps the token, and the next attempt ends it', async () => {
    const ended = await run(() => ({ at, kind: 'forGood' }));
    expect(ended.status.failure).toEqual({ type: 'Forbidden', message: 'refused for good' });
    expect(lab.world.tokens.get('vm-a')?.holder?.vmiUid).toBe(ended.vmi.uid);
    const again = await (await shutdown(lab, ended.vmi, { ...ended, ...endOf(ended), attempt: 2 })).result();
    expect(again.end).toBe('acpiShutdown');
    expectNothingLeft(ended);
  });

  test('is left as it is when it is cancelled there, and the next attempt ends it', async () => {
    const ended = await run((id) => ({ at, kind: 'meanwhile', run: () => cancelled(lab, id) }));
    // The last answer is the end of the story: nothing is left to be cancelled.
    expect(ended.status.failure?.type).toBe(at === calls.length - 1 ? undefined : 'Cancelled');
    await (await shutdown(lab, ended.vmi, { ...ended, attempt: 2 })).result();
    expectNothingLeft(ended);
  });
});
