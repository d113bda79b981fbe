import { expect, test } from '@jest/globals';
import type { VirtualMachineInstanceMigration } from '../../../../../api/kubevirt/types.ts';
import { superfluous } from '../../../../../activities/controller/migration/retention.ts';

const migrations = (phases: string[], metadata: object = {}): VirtualMachineInstanceMigration[] =>
  phases.map((phase, index) => ({
    metadata: { name: String(index), ...metadata },
    spec: { vmiName: 'web' },
    status: { phase },
  }));
const five = ['Failed', 'Succeeded', 'Failed', 'Succeeded', 'Succeeded'];

test.each([
  [five, []],
  [['Succeeded', ...five], ['0']],
  [
    ['Running', 'Succeeded', 'Failed', ...five],
    ['1', '2'],
  ],
  [[...five, 'Running', 'Pending', ''], []],
])('of %j, oldest first, %j are too many', (phases, names) => {
  expect(superfluous(migrations(phases)).map(({ metadata }) => metadata?.name)).toEqual(names);
});

test('what is being deleted is not counted', () => {
  const going = migrations(['Failed'], { deletionTimestamp: '2026-01-01T00:00:00Z' });
  expect(superfluous([...going, ...migrations(five)])).toEqual([]);
});
