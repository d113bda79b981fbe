import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import { kubectl, kubectlError } from '../support/kubectl.ts';
import { untilNothingLeft } from '../support/leftovers.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { untilSystemReady } from '../support/pods.ts';
import { qemuProcesses } from '../support/processes.ts';
import { Recorder } from '../support/recorder.ts';
import { condition, createClaim, createVm, deleteVm, getVm, getVmi, NAMESPACE, untilReady } from '../support/vms.ts';

const VM = 'recreated';
/** Long enough to see the new VM wait for the old guest, which does not shut down by itself. */
const GRACE_SECONDS = 30;

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await untilSystemReady();
  await deleteVm(VM);
  await createClaim(VM);
});

afterAll(async () => {
  await deleteVm(VM);
  await untilNothingLeft(VM);
});

test('a VM recreated under its name after its finalizers were stripped waits until the old guest is proven gone', async () => {
  await createVm(VM, { counter: true, ignoresShutdown: true, gracePeriodSeconds: GRACE_SECONDS, claim: VM });
  const old = await untilReady(VM);
  const [oldQemu] = await qemuProcesses(NAMESPACE, VM);
  const recorder = new Recorder(NAMESPACE, VM);
  await until('the guest counts', () => recorder.boot);

  await removeByForce();
  await createVm(VM, { counter: true, claim: VM });

  const waiting = await until(
    'the new VMI says why it waits',
    async () => {
      const vmi = await getVmi(VM);
      const reason = condition(vmi, 'Synchronized');
      return vmi?.metadata?.uid !== old.metadata?.uid && reason?.status === 'False' ? reason : undefined;
    },
    { timeoutMs: 60_000, everyMs: 200 },
  );
  expect(waiting).toMatchObject({ reason: 'TokenHeld', message: expect.stringContaining('virt-launcher-') });
  expect((await qemuProcesses(NAMESPACE, VM)).map(({ pid }) => pid)).toEqual([oldQemu?.pid]);

  const renewed = await untilReady(VM);
  expect(renewed.metadata?.uid).not.toBe(old.metadata?.uid);
  expect(await recorder.stop()).toEqual([]);
  expect(recorder.boots).toBe(2);
});

/** Deletes VM and VMI and takes their finalizers away, until both are gone from the API server. */
async function removeByForce(): Promise<void> {
  const strip = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}'];
  await until(
    'VM and VMI are gone',
    async () => {
      for (const kind of ['vm', 'vmi']) {
        await kubectl(['delete', kind, VM, '-n', NAMESPACE, '--wait=false', '--ignore-not-found']);
        // Not found: its finalizers were stripped in the round before.
        await kubectlError(['patch', kind, VM, '-n', NAMESPACE, ...strip]);
      }
      return (await getVm(VM)) === undefined && (await getVmi(VM)) === undefined;
    },
    { timeoutMs: 30_000, everyMs: 100 },
  );
}
