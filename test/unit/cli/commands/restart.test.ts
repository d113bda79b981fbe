import { expect, test } from '@jest/globals';
import { restartPatch } from '../../../../cli/commands/restart.ts';

test('the first requests of a VM create the list', () => {
  expect(restartPatch([], 'u1')).toEqual([
    { op: 'add', path: '/status/stateChangeRequests', value: [{ action: 'Stop', uid: 'u1' }, { action: 'Start' }] },
  ]);
});

test('later requests are appended, and refused when somebody else changed the list meanwhile', () => {
  const seen = [{ action: 'Start' }];
  expect(restartPatch(seen, 'u1')).toEqual([
    { op: 'test', path: '/status/stateChangeRequests', value: seen },
    {
      op: 'replace',
      path: '/status/stateChangeRequests',
      value: [{ action: 'Start' }, { action: 'Stop', uid: 'u1' }, { action: 'Start' }],
    },
  ]);
});
