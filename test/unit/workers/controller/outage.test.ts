import { expect, test } from '@jest/globals';
import type { Lease } from '../../../../api/kubernetes/types.ts';
import { watchOutage } from '../../../../workers/controller/outage.ts';
import { until } from '../../../support/until.ts';

/** What a worker `me` that cannot reach Temporal finds after some looks; another's Lease that changes is renewed with each. */
const found = async (lease: Lease | undefined, isRenewed = false): Promise<boolean> => {
  const stop = new AbortController();
  const answers: boolean[] = [];
  let version = 1;
  let now = 0;
  const get = (): Promise<Lease | undefined> => {
    if (isRenewed) version += 1;
    return Promise.resolve(lease && { ...lease, metadata: { resourceVersion: `${version}` } });
  };
  const kube = { get } as unknown as Parameters<typeof watchOutage>[0]['kube'];
  const done = watchOutage(
    { kube, namespace: 'virtflow', name: 'x', identity: 'me', durationMs: 25, clock: () => (now += 10) },
    (serves) => answers.push(serves),
    stop.signal,
  );
  await until('some looks', () => answers.length >= 6, { everyMs: 5 });
  stop.abort();
  await done;
  return answers.at(-1) ?? false;
};

test.each<[string, Lease | undefined, boolean, boolean]>([
  ['nobody ever led: its address may be wrong', undefined, false, false],
  ['it led itself until just now', { spec: { holderIdentity: 'me' } }, false, true],
  ['another one leads', { spec: { holderIdentity: 'other' } }, true, false],
  ['another one led and is silent', { spec: { holderIdentity: 'other' } }, false, true],
  ['another one led and went', { spec: { holderIdentity: '' } }, false, true],
])('a worker without Temporal, where %s', async (_, lease, isRenewed, serves) => {
  expect(await found(lease, isRenewed)).toBe(serves);
});
