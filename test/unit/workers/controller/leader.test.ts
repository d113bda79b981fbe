import { expect, test } from '@jest/globals';
import type { Lease } from '../../../../api/kubernetes/types.ts';
import { mayTake } from '../../../../workers/controller/leader.ts';

const lease = (holderIdentity: string | undefined, resourceVersion = '1'): Lease => ({
  metadata: { name: 'l', resourceVersion },
  spec: holderIdentity === undefined ? {} : { holderIdentity },
});
const seen = { key: 'other 1', since: 1000 };

test.each<[string, Lease | undefined, typeof seen | undefined, number, boolean]>([
  ['there is none', undefined, undefined, 0, true],
  ['nobody holds it', lease(undefined), undefined, 0, true],
  ['it is ours: the container was restarted', lease('me'), undefined, 0, true],
  ['another holds it and was never watched', lease('other'), undefined, 99_999, false],
  ['another holds it and was silent too short', lease('other'), seen, 5000, false],
  ['another holds it and renewed it since', lease('other', '2'), seen, 99_999, false],
  ['another holds it and is silent', lease('other'), seen, 17_000, true],
])('a candidate and a Lease: %s', (_, held, observed, now, may) => {
  expect(mayTake(held, 'me', observed, now, 15_000)).toBe(may);
});
