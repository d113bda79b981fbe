import { afterAll, beforeEach, expect, test } from '@jest/globals';
import type { OperationStatus, StepRecord } from '../../api/contract/operations.ts';
import { domainChanged, retryNow, wake } from '../../api/contract/operations.ts';
import { startId } from '../../api/contract/refs.ts';
import { newLab } from '../support/fakes/lab.ts';
import { recordedCalls } from '../support/fakes/recorded.ts';
import { newVmi, outcome, start, untilLongWait, untilStep } from '../support/fakes/operations.ts';

const lab = await newLab();
afterAll(() => lab.close());
beforeEach(() => void lab.reset());

test('a start takes the token, creates the Pod, and ends with a running domain', async () => {
  const vmi = newVmi(lab);
  const result = await (await start(lab, vmi)).result();
  expect(result).toMatchObject({ kind: 'start', epoch: 1, pod: { uid: `pod-${vmi.uid}-1`, node: 'node-a' } });
  expect(result.steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
    'AdmitInstance done',
    'CheckVolumes done',
    'AcquireToken done',
    'CreateLauncherPod done',
    'AwaitNode done',
    'BindToken done',
    'AwaitPod done',
    'SyncInstance done',
    'AwaitRunning done',
  ]);
  expect(result.steps.find(({ name }) => name === 'SyncInstance')?.node).toBe('node-a');
});

test('a VMI whose startStrategy is Paused is started paused', async () => {
  const vmi = newVmi(lab);
  lab.world.createVmi(vmi, { startPaused: true });
  await (await start(lab, vmi)).result();
  expect(lab.world.leftovers(vmi)[0]).toContain('domain paused');
});

test('a step that waits shows why, and retryNow ends the wait at once', async () => {
  lab.world.manners.refuse['checkVolumes'] = { type: 'VolumeNotFound', message: 'PVC default/disk does not exist' };
  const operation = await start(lab, newVmi(lab));
  const first = await untilStep(operation, 'CheckVolumes', 'waiting');
  expect(first).toMatchObject({ failure: { type: 'VolumeNotFound' } });
  expect(first.nextTryAt).toBeDefined();
  const { attempts } = await untilLongWait(lab, operation, 'CheckVolumes');
  delete lab.world.manners.refuse['checkVolumes'];
  expect(await operation.executeUpdate(retryNow)).toEqual({ step: 'CheckVolumes' });
  const { steps } = await operation.result();
  expect(steps.find(({ name }) => name === 'CheckVolumes')).toMatchObject({ state: 'done', attempts: attempts + 1 });
});

test('retryNow is refused when no step waits', async () => {
  lab.world.manners.kubelet = 'slow';
  const vmi = newVmi(lab);
  const operation = await start(lab, vmi);
  await untilStep(operation, 'AwaitNode', 'running');
  await expect(operation.executeUpdate(retryNow)).rejects.toThrow();
  await lab.world.startPod(`pod-${vmi.uid}-1`);
  await operation.result();
});

test('wake ends the wait for a quota', async () => {
  lab.world.manners.refuse['ensureLauncherPod'] = { type: 'QuotaExceeded', message: 'exceeded quota: small' };
  const operation = await start(lab, newVmi(lab));
  const { nextTryAt } = await untilLongWait(lab, operation, 'CreateLauncherPod');
  delete lab.world.manners.refuse['ensureLauncherPod'];
  await operation.signal(wake);
  const { steps } = await operation.result();
  expect(steps.at(-1)?.state).toBe('done');
  const { endedAt } = steps.find(({ name }) => name === 'CreateLauncherPod') ?? {};
  expect(Date.parse(endedAt ?? '')).toBeLessThan(Date.parse(nextTryAt ?? ''));
});

test('a wait on the outside ends after a day, and everything is taken back', async () => {
  lab.world.manners.refuse['ensureLauncherPod'] = { type: 'QuotaExceeded', message: 'exceeded quota: small' };
  const vmi = newVmi(lab);
  const status = (await outcome(await start(lab, vmi))) as OperationStatus;
  expect(status.failure?.type).toBe('DeadlineExceeded');
  expect(status.failure?.message).toContain('exceeded quota: small');
  expect(lab.world.leftovers(vmi)).toEqual([]);
});

test('an unknown failure is tried ten times, then the start fails and is taken back', async () => {
  lab.world.manners.refuse['syncInstance'] = { type: 'DomainFailed', message: 'cannot allocate memory' };
  const vmi = newVmi(lab);
  const status = (await outcome(await start(lab, vmi))) as OperationStatus;
  expect(status.failure).toEqual({ type: 'DomainFailed', message: 'cannot allocate memory' });
  expect(status.steps.find(({ name }) => name === 'SyncInstance')?.attempts).toBeGreaterThanOrEqual(10);
  expect(lab.world.leftovers(vmi)).toEqual([]);
});

test('a Pod that cannot be scheduled is waited for and told', async () => {
  lab.world.manners.kubelet = 'slow';
  const vmi = newVmi(lab);
  const uid = `pod-${vmi.uid}-1`;
  const operation = await start(lab, vmi);
  await untilStep(operation, 'AwaitNode', 'running');
  await lab.world.changePod(uid, {
    unschedulable: { reason: 'Unschedulable', message: '0/2 nodes: Insufficient memory' },
  });
  const waiting = await untilStep(operation, 'AwaitNode', 'waiting');
  expect(waiting.failure).toMatchObject({ type: 'PodNotReady' });
  expect(waiting.failure?.message).toContain('Insufficient memory');
  await lab.world.startPod(uid);
  expect((await operation.result()).steps.find(({ name }) => name === 'AwaitNode')).not.toHaveProperty('failure');
});

/** A start whose Pod has a node, and containers that do not run yet. */
const placed = async () => {
  lab.world.manners.kubelet = 'slow';
  const vmi = newVmi(lab);
  const uid = `pod-${vmi.uid}-1`;
  const operation = await start(lab, vmi);
  await untilStep(operation, 'AwaitNode', 'running');
  await lab.world.changePod(uid, { node: 'node-a' });
  return { vmi, uid, operation };
};

test('the launcher’s own word ends the wait for its Pod', async () => {
  const { vmi, uid, operation } = await placed();
  await untilStep(operation, 'AwaitPod', 'running');
  Object.assign(lab.world.pods.get(uid) ?? {}, { answers: true });
  await operation.signal(domainChanged, {
    ...{ vmi, podUid: uid, node: 'node-a', sequence: { epoch: 1, n: 1 }, at: new Date(0).toISOString() },
    ...{ state: 'none', agent: { connected: false } },
  });
  await operation.result();
});

test('a node worker that has waited for the launcher in vain is asked again once the Pod is ready, not before', async () => {
  const { uid, operation } = await placed();
  await untilStep(operation, 'SyncInstance', 'waiting');
  await lab.env.sleep('1 hour');
  expect((await recordedCalls(operation)).filter(({ activity }) => activity === 'syncInstance')).toHaveLength(1);
  await lab.world.startPod(uid);
  const { steps } = await operation.result();
  expect(steps.find(({ name }) => name === 'SyncInstance')).toMatchObject({ attempts: 2, state: 'done' });
});

test('an image that cannot be pulled is told while the launcher, which is there already, waits for it', async () => {
  const vmi = newVmi(lab);
  const waiting = { container: 'volumeroot', reason: 'ErrImagePull', message: 'no such image' };
  let told: StepRecord | undefined;
  const run = async (): Promise<void> => {
    await lab.world.changePod(`pod-${vmi.uid}-1`, { waiting });
    told = await untilStep(lab.env.client.workflow.getHandle(startId(vmi, 1)), 'SyncInstance', 'waiting');
  };
  lab.fault = { at: 0, of: 'syncInstance', kind: 'meanwhile', run };
  const { steps } = await (await start(lab, vmi)).result();
  expect(told?.failure).toMatchObject({ type: 'PodNotReady', message: expect.stringContaining('no such image') });
  expect(steps.find(({ name }) => name === 'SyncInstance')).not.toHaveProperty('failure');
});

test('without a worker on the node the step says so, and goes on when one is there', async () => {
  lab.world.manners.node = 'node-b';
  const vmi = newVmi(lab);
  const operation = await start(lab, vmi);
  await untilStep(operation, 'SyncInstance', 'running');
  await lab.env.sleep('11s');
  const waiting = await untilStep(operation, 'SyncInstance', 'waiting');
  expect(waiting).toMatchObject({ node: 'node-b', failure: { type: 'NoWorker' } });
  expect(waiting.failure?.message).toContain('no worker on node node-b');
  await lab.startNode('node-b');
  await operation.result();
  expect(lab.world.leftovers(vmi)).toEqual([`Pod ${`pod-${vmi.uid}-1`}, domain running`, 'token']);
});

test('a Pod that ends before the domain ran fails the start', async () => {
  lab.world.manners.kubelet = 'slow';
  const vmi = newVmi(lab);
  const operation = await start(lab, vmi);
  await untilStep(operation, 'AwaitNode', 'running');
  lab.world.manners.kubelet = 'prompt';
  await lab.world.endPod(`pod-${vmi.uid}-1`);
  expect(await outcome(operation)).toMatchObject({ failure: { type: 'PodFailed' } });
  expect(lab.world.leftovers(vmi)).toEqual([]);
});
