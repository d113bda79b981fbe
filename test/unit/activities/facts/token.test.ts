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
});
