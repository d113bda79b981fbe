import { expect, test } from '@jest/globals';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import { until } from '../../support/until.ts';
import { history } from '../support/history.ts';
import { virtflow } from '../support/kubectl.ts';
import { untilOneGuest } from '../support/leftovers.ts';
import { Recorder } from '../support/recorder.ts';
import { createVm, getVm, getVmi, isAgentConnected, NAMESPACE, untilObject, untilReady } from '../support/vms.ts';
import { watchObject } from '../support/watch.ts';
import { casesOf, chanceOf, faultSuite, newRun, strikeAfter } from './striking.ts';
import { victims, type Victim } from './victims.ts';

const VM = 'restart-kill';
/** How long a restart takes undisturbed, in milliseconds; the instant of the kill is drawn from it. */
const SPAN = 10_000;
/** From the moment on when the processes of the next launcher Pod are there. */
const SPAN_OF_NEXT = 5_000;

/** A process of the guest that is to come. */
const ofNext = (victim: Victim): Victim => ({
  ...victim,
  name: `${victim.name} of the next guest`,
  aim: async (vm) => {
    const { uid } = (await getVmi(vm))?.metadata ?? {};
    await until('the next instance', async () => isNext((await getVmi(vm))?.metadata?.uid, uid), {
      timeoutMs: 120_000,
      everyMs: 200,
    });
    return victim.aim(vm);
  },
});
const isNext = (uid: string | undefined, before: string | undefined): boolean => uid !== undefined && uid !== before;

const isOfNext = ({ name }: Victim): boolean => name.endsWith('of the next guest');
const inLaunchers = victims.filter(({ name }) => name === 'launcher' || name === 'libvirtd');
const runs = faultSuite('restart', VM);

test.each(casesOf('restart', [...victims, ...inLaunchers.map(ofNext)]))(
  '$name killed during a restart (round $round): the next guest runs once the old one is gone, as one operation',
  async (drawn) => {
    const { victim } = drawn;
    const run = newRun('restart', drawn);
    runs.push(run);
    const chance = chanceOf(run);
    if ((await getVm(VM)) === undefined) await createVm(VM, { counter: true, runStrategy: 'Always' });
    const { uid } = (await untilReady(VM)).metadata ?? {};
    const recorder = new Recorder(NAMESPACE, VM);
    const words = watchObject<VirtualMachine>('vm', VM, NAMESPACE);
    try {
      await until('the guest counts', () => recorder.boot);
      // What can be known before is: the instant of the kill shall not depend on how busy the machine is.
      const aimed = victim.aim(VM);
      if (!isOfNext(victim)) await aimed;
      await virtflow(['restart', VM, '-n', NAMESPACE]);
      const asked = Date.now();
      const kill = await aimed;
      run.delay = Math.round(chance() * (isOfNext(victim) ? SPAN_OF_NEXT : SPAN));
      const killed = await strikeAfter(run.delay, victim, kill, chance);
      await untilObject(
        `the next VMI of ${VM} Running with its agent connected`,
        () => getVmi(VM),
        (vmi) => isNext(vmi.metadata?.uid, uid) && isAgentConnected(vmi),
        240_000,
      );
      Object.assign(run, { recovered: Date.now() - killed, total: Date.now() - asked });
      await untilOneGuest(VM);
    } finally {
      await words.stop();
      run.violations = await recorder.stop();
      run.boots = recorder.boots;
    }
    expect(run.violations).toEqual([]);
    expect(run.boots).toBe(2);
    expect(recorder.poweredDown).toBe(true);
    expect(words.seen.map(({ object }) => object.status?.printableStatus)).not.toContain('Stopped');
    await untilObject(
      'no request is left',
      () => getVm(VM),
      ({ status }) => (status?.stateChangeRequests ?? []).length === 0,
      30_000,
    );
    const done = (await history(VM)).slice(-2);
    expect(done.map(({ operation, state }) => `${operation} ${state}`)).toEqual([
      'shutdown succeeded',
      'start succeeded',
    ]);
    run.outcome = 'ok';
  },
);
