import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { bringForward } from '../../api/contract/operations.ts';
import { newLab } from '../support/fakes/lab.ts';
import { deadlineIn, newVmi, runningVmi, shutdown, untilStep } from '../support/fakes/operations.ts';

const lab = await newLab();
afterAll(() => lab.close());
beforeEach(() => void lab.reset());

const names = (steps: { name: string }[]): string[] => steps.map(({ name }) => name);
const seconds = ({ startedAt, endedAt }: { startedAt: string; endedAt?: string }): number =>
  (Date.parse(endedAt ?? '') - Date.parse(startedAt)) / 1000;

test('a guest that obeys is signalled, proven gone, and its Pod and token go', async () => {
  const running = await runningVmi(lab);
  const result = await (await shutdown(lab, running.vmi, running)).result();
  expect(result.end).toBe('acpiShutdown');
  expect(names(result.steps)).toEqual([
    'SignalGuest',
    'AwaitStopped',
    'ProveGone',
    'DeletePod',
    'AwaitPodGone',
    'ReleaseToken',
  ]);
  expect(result.steps.find(({ name }) => name === 'AwaitStopped')?.note).toBe('guest ended: acpiShutdown');
  expect(lab.world.leftovers(running.vmi)).toEqual([]);
});

test('a guest that ignores the signal is destroyed ten seconds after its deadline, not earlier', async () => {
  lab.world.manners.guest = 'ignores';
  const running = await runningVmi(lab);
  const deadline = await deadlineIn(lab, 30);
  const result = await (await shutdown(lab, running.vmi, { ...running, deadline })).result();
  expect(result.end).toBe('killed');
  expect(names(result.steps)).toContain('DestroyDomain');
  const { endedAt } = result.steps.find(({ name }) => name === 'AwaitStopped') ?? never();
  const behind = seconds({ startedAt: deadline, ...(endedAt === undefined ? {} : { endedAt }) });
  expect(behind).toBeGreaterThanOrEqual(10);
  expect(behind).toBeLessThan(25);
  expect(lab.world.leftovers(running.vmi)).toEqual([]);
});

test('the deadline can be brought forward while the guest is waited for, never back', async () => {
  lab.world.manners.guest = 'ignores';
  const running = await runningVmi(lab);
  const deadline = await deadlineIn(lab, 3600);
  const operation = await shutdown(lab, running.vmi, { ...running, deadline });
  await untilStep(operation, 'AwaitStopped', 'running');
  const earlier = await deadlineIn(lab, 5);
  await operation.signal(bringForward, earlier);
  await operation.signal(bringForward, await deadlineIn(lab, 7200));
  const result = await operation.result();
  expect(seconds(result.steps.find(({ name }) => name === 'AwaitStopped') ?? never())).toBeLessThan(60);
  expect(lab.world.pods.size).toBe(0);
});

test('without a worker on the node the Pod is deleted, and its launcher signals the guest', async () => {
  const running = await runningVmi(lab);
  const pod = { ...running.pod, node: 'node-b' };
  const result = await (await shutdown(lab, running.vmi, { ...running, pod })).result();
  expect(result.steps[0]).toMatchObject({ name: 'SignalGuest', state: 'done' });
  expect(result.steps[0]?.note).toContain('no worker on node node-b');
  expect(result.steps.find(({ name }) => name === 'ProveGone')?.note).toContain('podEnded');
  expect(result.end).toBe('acpiShutdown');
  expect(lab.world.leftovers(running.vmi)).toEqual([]);
});

test('a guest that has ended by itself passes through without being signalled', async () => {
  const running = await runningVmi(lab);
  await lab.world.endGuest(running.pod.uid, 'crashed');
  const result = await (
    await shutdown(lab, running.vmi, { ...running, cause: 'guestStopped', end: 'crashed' })
  ).result();
  expect(result.end).toBe('crashed');
  expect(result.steps[0]?.note).toBe('the guest had stopped already');
});

test('a Pod that never got a node is removed without asking any node', async () => {
  lab.world.manners.kubelet = 'slow';
  const vmi = newVmi(lab);
  const { epoch } = await lab.world.controller.acquireToken({ vmi, attempt: 1 });
  const { name, uid } = await lab.world.controller.ensureLauncherPod({ vmi, attempt: 1, epoch });
  lab.world.manners.kubelet = 'prompt';
  const result = await (await shutdown(lab, vmi, { pod: { name, uid }, epoch, cause: 'startCancelled' })).result();
  expect(result.end).toBe('neverRan');
  expect(lab.world.leftovers(vmi)).toEqual([]);
});

test('the token stays until the domain is proven gone, however long that takes', async () => {
  const running = await runningVmi(lab);
  lab.world.manners.refuse['proveDomainGone'] = { type: 'Unproven', message: 'nobody knows' };
  const operation = await shutdown(lab, running.vmi, running);
  await untilStep(operation, 'ProveGone', 'waiting');
  await lab.env.sleep('3 days');
  expect(lab.world.tokens.get('vm-a')?.holder?.vmiUid).toBe(running.vmi.uid);
  delete lab.world.manners.refuse['proveDomainGone'];
  expect((await operation.result()).end).toBe('acpiShutdown');
  expect(lab.world.leftovers(running.vmi)).toEqual([]);
});

const never = (): never => {
  throw new Error('no such step');
};

test('of a guest that stops at once the signal answers that it is over, with the proof', async () => {
  lab.world.manners.provesAtOnce = true;
  lab.world.manners.refuse['proveDomainGone'] = { type: 'Unproven', message: 'not asked for' };
  const running = await runningVmi(lab);
  const result = await (await shutdown(lab, running.vmi, running)).result();
  expect(result.end).toBe('acpiShutdown');
  expect(result.steps.find(({ name }) => name === 'ProveGone')?.note).toBe('launcher: the launcher says shutoff');
  expect(lab.world.leftovers(running.vmi)).toEqual([]);
});
