import { expect, test } from '@jest/globals';
import { instanceId, migrationId, migrationOf, startId } from '../../../../api/contract/refs.ts';

const ref = { namespace: 'n', name: 'm', uid: 'm1' };

test("a migration's workflow id leads back to its VMIM", () => {
  expect(migrationOf(migrationId(ref))).toEqual(ref);
});

test.each([instanceId(ref), startId(ref, 1), 'migration/n/m', 'migration/n/m/m1/x', 'migration-scheduler', ''])(
  '"%s" is of no migration',
  (id) => {
    expect(migrationOf(id)).toBeUndefined();
  },
);
