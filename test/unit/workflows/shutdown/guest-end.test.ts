import { expect, test } from '@jest/globals';
import { guestEnd } from '../../../../workflows/shutdown/guest-end.ts';
import { domain, pod } from '../instance/facts.ts';

const nothing = { told: undefined, report: undefined, pod: undefined, scheduled: true, started: true };

test.each([
  ['the launcher said so', { report: domain('shutoff', { end: 'agentShutdown' }) }, 'agentShutdown'],
  [
    'the launcher said so, and the Pod too',
    { report: domain('shutoff', { end: 'killed' }), pod: pod({ exitCode: 0 }) },
    'killed',
  ],
  ['the entity had heard it', { told: 'crashed' as const }, 'crashed'],
  ['the launcher knows better than what was heard', { told: 'unknown' as const, report: domain('crashed') }, 'crashed'],
  [
    'a Pod that exits with 0 had a guest that shut down',
    { pod: pod({ exitCode: 0, provenEnded: true }) },
    'guestShutdown',
  ],
  [
    'a Pod that its guest has left says nothing of its end',
    { report: domain('shutoff', { end: 'migrated' }), pod: pod({ exitCode: 0, provenEnded: true }) },
    'unknown',
  ],
  ['a Pod that exits with something else says nothing', { pod: pod({ exitCode: 137, provenEnded: true }) }, 'unknown'],
  ['a Pod without a node never ran a guest', { scheduled: false }, 'neverRan'],
  ['a start that was cancelled early never ran one', { started: false }, 'neverRan'],
  [
    'a start that was cancelled late did',
    { started: false, report: domain('shutoff', { end: 'acpiShutdown' }) },
    'acpiShutdown',
  ],
  ['nobody knows', {}, 'unknown'],
])('%s', (_, witness, end) => {
  expect(guestEnd({ ...nothing, ...witness })).toBe(end);
});
