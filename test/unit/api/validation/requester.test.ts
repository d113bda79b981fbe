import { expect, test } from '@jest/globals';
import { requesterOf } from '../../../../api/validation/requester.ts';

test.each([
  ['system:serviceaccount:virtflow:virtflow-controller', true, true],
  ['system:serviceaccount:virtflow:virtflow-node', true, false],
  ['system:serviceaccount:other:virtflow-controller', false, false],
  ['system:serviceaccount:virtflow:guest', false, false],
  ['virtflow-controller', false, false],
  ['', false, false],
])('%s', (username, isSystem, isController) => {
  expect(requesterOf(username, ['virtflow'])).toEqual({ isSystem, isController });
});
