import { expect, test } from '@jest/globals';
import type { InstanceFacts } from '../../../../api/contract/facts.ts';
import { decide } from '../../../../workflows/instance/decide.ts';
import type { InstanceState } from '../../../../workflows/instance/state.ts';
import { initialState } from '../../../../workflows/instance/state.ts';

const AT = '2026-01-01T00:00:00.000Z';
const vmi = { namespace: 'default', name: 'vm', uid: 'u-1' };
const pod = { name: 'virt-launcher-vm', uid: 'pod-1', node: 'node-a' };
const facts = (changes: Partial<InstanceFacts>): InstanceFacts => ({
  ...{ vmi, resourceVersion: '1', phase: 'Running', deleting: false, gracePeriodSeconds: 120, finalizers: [] },
  ...{ ready: true, paused: false },
  ...changes,
});
/** As the bridge tells of an object that it cannot read any more. */
const gone = facts({ resourceVersion: '', phase: '', deleting: true, gone: true, gracePeriodSeconds: 30 });
const running: InstanceState = {
  ...initialState(vmi),
  ...{ adoption: 'done', object: facts({}), pod, epoch: 1, started: true, phase: 'Running' },
};

test('a guest whose object was removed by force has the grace period that the object had', () => {
  const { commands } = decide(running, { type: 'instanceObserved', facts: gone }, AT);
  expect(commands).toMatchObject([
    { type: 'begin', operation: { kind: 'shutdown', cause: 'deleted', deadline: '2026-01-01T00:02:00.000Z' } },
  ]);
});

test('removing an object by force does not bring the deadline of a shutdown under way forward', () => {
  const deleting = decide(running, { type: 'instanceObserved', facts: facts({ deleting: true }) }, AT);
  const { commands } = decide(deleting.state, { type: 'instanceObserved', facts: gone }, '2026-01-01T00:00:10.000Z');
  expect(commands).not.toContainEqual(
    expect.objectContaining({ message: expect.objectContaining({ signal: 'bringForward' }) }),
  );
});
