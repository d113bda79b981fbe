import { expect, test } from '@jest/globals';
import { invalidSetting, priorityOf, timeoutsOf } from '../../../../activities/facts/migration-settings.ts';
import type { VirtualMachineInstanceMigration } from '../../../../api/kubevirt/types.ts';

const vmim = (spec: object, annotations: Record<string, string> = {}): VirtualMachineInstanceMigration => ({
  metadata: { annotations },
  spec,
});

test.each([
  [{}, 0],
  [{ priority: '' }, 0],
  [{ priority: 'system-critical' }, 100],
  [{ priority: 'user-triggered' }, 50],
  [{ priority: 'system-maintenance' }, 20],
])('priority of %j is %d', (spec, priority) => {
  expect(priorityOf(spec)).toBe(priority);
  expect(invalidSetting(vmim(spec))).toBeUndefined();
});

test('an unknown priority is named, with the words that there are', () => {
  expect(invalidSetting(vmim({ priority: 'urgent' }))).toMatch(
    /spec\.priority "urgent" is unknown: use system-critical, user-triggered/,
  );
});

const UNSCHEDULABLE = 'kubevirt.io/migrationUnschedulablePodTimeoutSeconds';
const PENDING = 'kubevirt.io/migrationPendingPodTimeoutSeconds';

test.each([
  [{}, { unschedulable: 300, pending: 900 }],
  [{ [UNSCHEDULABLE]: '10' }, { unschedulable: 10, pending: 900 }],
  [{ [PENDING]: '20' }, { unschedulable: 300, pending: 20 }],
])('annotations %j give the timeouts %j', (annotations, timeouts) => {
  expect(timeoutsOf(vmim({}, annotations))).toEqual(timeouts);
  expect(invalidSetting(vmim({}, annotations))).toBeUndefined();
});

test.each(['', '0', '-3', '1.5', '5m', '1000000'])('a timeout of "%s" is named', (given) => {
  expect(invalidSetting(vmim({}, { [PENDING]: given }))).toContain(`metadata.annotations[${PENDING}] "${given}"`);
});
