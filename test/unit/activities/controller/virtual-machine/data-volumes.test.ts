import { expect, test } from '@jest/globals';
import { dataVolumeState } from '../../../../../activities/controller/virtual-machine/data-volumes.ts';

const withCondition = (phase: string, type: string, status: string, reason = '') => ({
  status: { phase, conditions: [{ type, status, reason }] },
});

test.each([
  ['none', [], undefined],
  ['one that is filled', [{ status: { phase: 'Succeeded' } }], undefined],
  ['one that somebody else fills', [{ status: { phase: 'PendingPopulation' } }], undefined],
  ['one that waits for its consumer', [{ status: { phase: 'WaitForFirstConsumer' } }], undefined],
  ['one that waits, but is bound', [withCondition('WaitForFirstConsumer', 'Bound', 'True')], 'provisioning'],
  [
    'one that is being filled',
    [{ status: { phase: 'Succeeded' } }, { status: { phase: 'ImportInProgress' } }],
    'provisioning',
  ],
  ['one that is new', [{}], 'provisioning'],
  [
    'one that failed, whatever the others do',
    [{ status: { phase: 'ImportInProgress' } }, { status: { phase: 'Failed' } }],
    'failed',
  ],
  [
    'an importer that stopped by an error',
    [withCondition('ImportInProgress', 'Running', 'False', 'ImagePullFailed')],
    'failed',
  ],
  ['an importer that is done', [withCondition('Succeeded', 'Running', 'False', 'Completed')], undefined],
])('%s', (_, dataVolumes, expected) => {
  expect(dataVolumeState(dataVolumes)).toBe(expected);
});
