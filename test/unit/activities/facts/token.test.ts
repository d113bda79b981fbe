import { expect, test } from '@jest/globals';
import { leaseOf, runToken, tokenOf } from '../../../../activities/facts/token.ts';
import type { Token } from '../../../../activities/facts/token.ts';

const vmi = { namespace: 'n', name: 'v' };

test.each<Token>([
  { epoch: 0 },
  { epoch: 4 },
  { epoch: 2, holder: { vmiUid: 'a', attempt: 1 } },
  { epoch: 3, holder: { vmiUid: 'a', attempt: 2, pod: { name: 'p', uid: 'pu' } } },
  { epoch: 3, holder: { vmiUid: 'a', attempt: 2, pod: { name: 'p', uid: 'pu', node: 'node-a' } } },
  { epoch: 3, settled: 'm1' },
  {
    epoch: 3,
    holder: { vmiUid: 'a', attempt: 2, pod: { name: 'p', uid: 'pu', node: 'node-a' } },
    moving: { migration: { name: 'm', uid: 'mu' }, pod: { name: 't', uid: 'tu', node: 'node-b' } },
    settled: 'm1',
  },
])('a token reads as it was written: %j', (token) => {
  expect(tokenOf(leaseOf(token, vmi))).toEqual(token);
});

test('writing keeps what is not ours and removes a holder that is gone', () => {
  const held = leaseOf({ epoch: 1, holder: { vmiUid: 'a', attempt: 1 } }, vmi);
  held.metadata = {
    ...held.metadata,
    resourceVersion: '9',
    annotations: { ...held.metadata?.annotations, 'team/x': 'y' },
  };
  const free = leaseOf({ epoch: 1 }, vmi, held);
  expect(free.metadata).toMatchObject({ resourceVersion: '9', name: 'virtflow-v', annotations: { 'team/x': 'y' } });
  expect(tokenOf(free)).toEqual({ epoch: 1 });
  expect(free.spec).not.toHaveProperty('holderIdentity');
});

test('writing takes a move back', () => {
  const pod = { name: 'p', uid: 'pu', node: 'node-a' };
  const held: Token = { epoch: 1, holder: { vmiUid: 'a', attempt: 1, pod } };
  const moving = leaseOf({ ...held, moving: { migration: { name: 'm', uid: 'mu' }, pod: { ...pod, uid: 'tu' } } }, vmi);
  expect(tokenOf(leaseOf(held, vmi, moving))).toEqual(held);
});

test('a Pod that may run the domain counts even if the rest of the move cannot be read', () => {
  const lease = leaseOf({ epoch: 1, holder: { vmiUid: 'a', attempt: 1 } }, vmi);
  lease.metadata = {
    ...lease.metadata,
    annotations: { ...lease.metadata?.annotations, 'virtflow.io/moving-to-pod-uid': 'tu' },
  };
  expect(tokenOf(lease).moving?.pod.uid).toBe('tu');
});

test('the Lease has no owner, so that it outlives its VMI', () => {
  expect(leaseOf({ epoch: 1, holder: { vmiUid: 'a', attempt: 1 } }, vmi).metadata).not.toHaveProperty(
    'ownerReferences',
  );
});

test('workflows see who holds it', () => {
  const pod = { name: 'p', uid: 'pu', node: 'node-a' };
  expect(runToken({ epoch: 3, holder: { vmiUid: 'a', attempt: 2, pod } })).toEqual({
    epoch: 3,
    holder: { vmiUid: 'a', attempt: 2, podUid: 'pu', podName: 'p', node: 'node-a' },
  });
  expect(runToken({ epoch: 3 })).toEqual({ epoch: 3 });
  const moving = { migration: { name: 'm', uid: 'mu' }, pod: { name: 't', uid: 'tu', node: 'node-b' } };
  expect(runToken({ epoch: 3, holder: { vmiUid: 'a', attempt: 2, pod }, moving })).toMatchObject({
    moving: { migration: { name: 'm', uid: 'mu' }, podUid: 'tu', podName: 't', node: 'node-b' },
  });
});
