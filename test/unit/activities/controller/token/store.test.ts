import { expect, test } from '@jest/globals';
import { Tokens } from '../../../../../activities/controller/token/store.ts';
import type { Token } from '../../../../../activities/facts/token.ts';
import type { KubePort } from '../../../../../activities/kube/port.ts';
import { KubeError } from '../../../../../activities/kube/port.ts';
import type { Lease } from '../../../../../api/kubernetes/types.ts';

const vmi = { namespace: 'team', name: 'web', uid: 'u1' };
const held = (by: string, epoch = 1): Token => ({ epoch, holder: { vmiUid: by, attempt: 1 } });

/** Leases as an API server keeps them: each write has a version, and carries the one before. */
const leases = () => {
  let stored: Lease | undefined;
  let version = 0;
  const reads: string[] = [];
  const put = (lease: Lease): Promise<Lease> => {
    version += 1;
    stored = { ...lease, metadata: { ...lease.metadata, uid: 'lease', resourceVersion: `${version}` } };
    return Promise.resolve(stored);
  };
  const refuse = (reason: string): Promise<never> => Promise.reject(new KubeError(409, reason, reason));
  const kube = {
    get: () => Promise.resolve((reads.push('get'), stored)),
    create: (_: 'Lease', lease: Lease) => (stored === undefined ? put(lease) : refuse('AlreadyExists')),
    replace: (_: 'Lease', lease: Lease) =>
      stored?.metadata?.resourceVersion === lease.metadata?.resourceVersion ? put(lease) : refuse('Conflict'),
  } as unknown as KubePort;
  return { kube, reads };
};

test('what this process wrote itself is written over without a read before', async () => {
  const { kube, reads } = leases();
  const tokens = new Tokens(kube);
  await expect(tokens.change(vmi, (read) => ({ token: held(read ? 'b' : 'a') }))).resolves.toEqual(held('a'));
  expect(reads).toHaveLength(1);
  await expect(tokens.change(vmi, (read) => ({ token: held(read ? 'b' : 'a', 2) }))).resolves.toEqual(held('b', 2));
  expect(reads).toHaveLength(1);
});

test('a token that somebody else wrote meanwhile is decided on anew, as it is', async () => {
  const { kube } = leases();
  const [ours, others] = [new Tokens(kube), new Tokens(kube)];
  await ours.read(vmi);
  await others.change(vmi, () => ({ token: held('other') }));
  const decidedOn: (string | undefined)[] = [];
  const taken = ours.change(vmi, (read) => {
    decidedOn.push(read?.token.holder?.vmiUid);
    if (read !== undefined) throw new Error('taken');
    return { token: held('ours') };
  });
  await expect(taken).rejects.toThrow('taken');
  expect(decidedOn).toEqual([undefined, 'other']);
});

test('neither a refusal nor "nothing to do" comes from memory', async () => {
  const { kube } = leases();
  const [ours, others] = [new Tokens(kube), new Tokens(kube)];
  await ours.change(vmi, () => ({ token: held('a') }));
  await others.change(vmi, (read) => (read ? { token: { epoch: 1 } } : undefined));
  const refusing = ours.change(vmi, (read) => {
    if (read?.token.holder !== undefined) throw new Error('held');
    return { token: held('b', 2) };
  });
  await expect(refusing).resolves.toEqual(held('b', 2));
  await others.change(vmi, () => ({ token: held('c', 3) }));
  await expect(ours.change(vmi, () => undefined)).resolves.toEqual(held('c', 3));
});

test('a write without an answer is forgotten', async () => {
  const { kube, reads } = leases();
  const tokens = new Tokens({ ...kube, replace: () => Promise.reject(new KubeError(0, 'Unreachable', 'no answer')) });
  await tokens.change(vmi, () => ({ token: held('a') }));
  await expect(tokens.change(vmi, () => ({ token: held('b') }))).rejects.toThrow('no answer');
  expect(tokens.seen(vmi)).toBeUndefined();
  expect(reads).toHaveLength(1);
});

test('that no other Pod was seen holds for the token that was written then, not for a later one', async () => {
  const { kube } = leases();
  const tokens = new Tokens(kube);
  await tokens.change(vmi, () => ({ token: held('a'), isAlone: true }));
  expect(tokens.seen(vmi)?.isAlone).toBe(true);
  await tokens.change(vmi, () => ({ token: held('b', 2) }));
  expect(tokens.seen(vmi)?.isAlone).toBe(false);
});
