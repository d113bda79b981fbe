import { expect, test } from '@jest/globals';
import { leftOf } from '../../../../workflows/migrate/left.ts';
import { pod } from '../instance/facts.ts';

const migration = { name: 'mig-1', uid: 'm1' };
const holder = { vmiUid: 'u1', attempt: 1, podUid: 'p1', podName: 'p1', node: 'n1' };
const target = pod({ name: 't1', uid: 't1', node: 'n2', migration });
const targetRef = { name: 't1', uid: 't1', node: 'n2' };
const source = pod();
const sourceRef = { name: 'p1', uid: 'p1', node: 'n1' };
const moving = { migration, podUid: 't1', podName: 't1', node: 'n2' };

test.each([
  ['nothing', { token: { epoch: 1, holder }, pods: [source] }, undefined],
  [
    "another migration's target",
    { token: { epoch: 1, holder }, pods: [source, { ...target, migration: { name: 'x', uid: 'x' } }] },
    undefined,
  ],
  ['a target that is gone', { token: { epoch: 1, holder }, pods: [source, { ...target, gone: true }] }, undefined],
  ['a target Pod', { token: { epoch: 1, holder }, pods: [source, target] }, { state: 'prepared', target: targetRef }],
  ['a target Pod and no token', { pods: [target] }, { state: 'prepared', target: targetRef }],
  [
    'a token that says that the guest moves',
    { token: { epoch: 4, holder, moving }, pods: [source, target] },
    { state: 'moving', target: targetRef, source: sourceRef, epoch: 4 },
  ],
  [
    'the same, with both Pods gone',
    { token: { epoch: 4, holder, moving }, pods: [] },
    { state: 'moving', target: targetRef, source: sourceRef, epoch: 4 },
  ],
  [
    'a token that the target holds, and the Pod that the guest has left',
    { token: { epoch: 5, holder: { ...holder, podUid: 't1', podName: 't1', node: 'n2' } }, pods: [source, target] },
    { state: 'moved', target: targetRef, source: sourceRef, epoch: 5 },
  ],
  [
    'the same, with nothing to clear away',
    { token: { epoch: 5, holder: { ...holder, podUid: 't1', podName: 't1', node: 'n2' } }, pods: [target] },
    { state: 'moved', target: targetRef, epoch: 5 },
  ],
])('%s', (_, world, left) => {
  expect(leftOf('m1', world)).toEqual(left);
});
