import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { failure } from '../../../../../activities/failures.ts';
import { awaitContainer, awaitNetwork } from '../../../../../activities/node/pods/await-container.ts';
import type { AwaitOptions } from '../../../../../activities/node/pods/await-container.ts';
import { processTable } from '../../../../../activities/node/pods/processes.ts';
import type { ContainerStatus, Pod } from '../../../../../api/kubernetes/types.ts';

/** What becomes of the wait for a container that never starts; one that starts is awaited in the integration tests. */
let base: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'await-'));
  await mkdir(join(base, 'proc'));
});
afterEach(() => rm(base, { recursive: true }));

type State = NonNullable<ContainerStatus['state']>;

const podWith = (state?: State): Pod => ({
  metadata: { name: 'launcher', namespace: 'default', uid: 'pod-uid' },
  status: { phase: 'Pending', ...(state && { containerStatuses: [{ name: 'volumeroot', state }] as never }) },
});

const wait = (options: Partial<AwaitOptions> = {}, pod = podWith()): Promise<unknown> =>
  awaitContainer({ pods: join(base, 'pods'), processes: processTable(join(base, 'proc')) }, pod, 'volumeroot', {
    read: () => Promise.resolve(pod),
    cancelled: new AbortController().signal,
    times: { waitMs: 500, pollMs: 1, readMs: 5 },
    ...options,
  });

test.each<[string, State | undefined, RegExp]>([
  [
    'of which nothing is known',
    undefined,
    /^after 0.5 s container volumeroot of Pod default\/launcher does not run: .*not said/,
  ],
  [
    'that cannot start',
    { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } },
    /ImagePullBackOff: no such image/,
  ],
  ['that runs where it cannot be seen', { running: {} }, /host's PID namespace/],
])('a container %s: the failure is retryable and says why', async (_, state, message) => {
  const read = (): Promise<Pod> => Promise.resolve(podWith(state));
  await expect(wait({ read })).rejects.toMatchObject({
    type: 'PodNotReady',
    nonRetryable: false,
    message: expect.stringMatching(message),
  });
});

test('a container that has ended is not waited for', async () => {
  const ended = podWith({ terminated: { exitCode: 1, reason: 'Error' } });
  await expect(wait({ times: { waitMs: 60_000, pollMs: 1, readMs: 60_000 } }, ended)).rejects.toMatchObject({
    type: 'PodFailed',
    message: expect.stringContaining('has ended: Error'),
  });
});

test('a container that its kubelet starts again is waited for', async () => {
  const ended = podWith({ terminated: { exitCode: 1, reason: 'Error' } });
  const pod: Pod = {
    ...ended,
    spec: { containers: [], initContainers: [{ name: 'volumeroot', restartPolicy: 'Always' }] },
  };
  await expect(wait({ times: { waitMs: 20, pollMs: 1, readMs: 60_000 } }, pod)).rejects.toMatchObject({
    type: 'PodNotReady',
  });
});

test('a Pod that ends meanwhile ends the wait', async () => {
  const read = (): Promise<Pod> => Promise.reject(failure('PodFailed', 'the Pod is gone'));
  const times = { waitMs: 60_000, pollMs: 1, readMs: 5 };
  await expect(wait({ read, times })).rejects.toMatchObject({ type: 'PodFailed', message: 'the Pod is gone' });
});

test('a cancellation ends the wait', async () => {
  const cancelled = AbortSignal.timeout(5);
  await expect(wait({ cancelled, times: { waitMs: 60_000, pollMs: 1, readMs: 60_000 } })).rejects.toMatchObject({
    name: 'AbortError',
  });
});

test('a Pod without a sandbox: the failure is retryable and says where to look', async () => {
  const options = { read: () => Promise.resolve(podWith()), cancelled: new AbortController().signal };
  const times = { waitMs: 20, pollMs: 1, readMs: 60_000 };
  await expect(
    awaitNetwork({ processes: processTable(join(base, 'proc')) }, podWith(), { ...options, times }),
  ).rejects.toMatchObject({
    ...{ type: 'PodNotReady', nonRetryable: false },
    message: expect.stringMatching(/Pod default\/launcher has no sandbox on its node: look at the Pod's events/),
  });
});
