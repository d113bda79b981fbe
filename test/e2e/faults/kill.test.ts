import { expect, test } from '@jest/globals';
import { rounds } from '../support/fault-options.ts';
import { lastOperation } from '../support/history.ts';
import { untilNothingLeft } from '../support/leftovers.ts';
import { Recorder } from '../support/recorder.ts';
import { createVm, getVm, NAMESPACE, setRunStrategy, untilReady, untilStopped } from '../support/vms.ts';
import { chanceOf, faultSuite, newRun, strikeAfter } from './striking.ts';
import { victims } from './victims.ts';

const VM = 'faults';

/** How long the operations take undisturbed, from request to end, in milliseconds; the instant of the kill is drawn from it. */
const SPAN = { start: 15_000, shutdown: 4_000 } as const;
/** A start from the moment on when the launcher's processes are there. */
const SPAN_WITH_LAUNCHER = 10_000;

const CLEAN_ENDS = ['agentShutdown', 'acpiShutdown', 'guestShutdown'];

type OperationName = keyof typeof SPAN;

const cases = rounds.flatMap((round) =>
  victims.flatMap((victim) =>
    (['start', 'shutdown'] as const).map((operation) => ({ victim, name: victim.name, operation, round })),
  ),
);
const runs = faultSuite('kill', VM);

test.each(cases)(
  '$name killed during a $operation (round $round): the operation ends as it should',
  async ({ victim, operation, round }) => {
    await prepare(operation);
    const run = newRun(operation, { victim, round });
    runs.push(run);
    const random = chanceOf(run);
    const recorder = new Recorder(NAMESPACE, VM);
    try {
      // What can be known before is: the instant of the kill shall not depend on how busy the machine is.
      const early = operation === 'shutdown' || !isOfLauncher(victim.name) ? await victim.aim(VM) : undefined;
      await setRunStrategy(VM, operation === 'start' ? 'Always' : 'Halted');
      const asked = Date.now();
      const kill = early ?? (await victim.aim(VM));
      run.delay = Math.round(random() * (early ? SPAN[operation] : SPAN_WITH_LAUNCHER));
      const killed = await strikeAfter(run.delay, victim, kill, random);
      await (operation === 'start' ? untilReady(VM) : untilStopped(VM));
      Object.assign(run, { recovered: Date.now() - killed, total: Date.now() - asked });
    } finally {
      run.violations = await recorder.stop();
      run.boots = recorder.boots;
    }
    expect(run.violations).toEqual([]);
    expect(run.boots).toBe(1);
    if (operation === 'shutdown') {
      expect(recorder.poweredDown).toBe(true);
      expect(CLEAN_ENDS).toContain((await lastOperation(VM, 'shutdown'))?.status?.end);
      await untilNothingLeft(VM);
    }
    run.outcome = 'ok';
  },
);

const isOfLauncher = (name: string): boolean => name === 'launcher' || name === 'libvirtd';

/** One VM serves all cases: stopped before a start, running before a shutdown. */
async function prepare(operation: OperationName): Promise<void> {
  const runStrategy = operation === 'start' ? 'Halted' : 'Always';
  if (await getVm(VM)) await setRunStrategy(VM, runStrategy);
  else await createVm(VM, { counter: true, runStrategy });
  await (operation === 'start' ? untilStopped(VM) : untilReady(VM));
}
