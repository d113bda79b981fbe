import { quantityValue } from '../kubernetes/quantity.ts';
import type { MigrationPolicy } from '../migration-policy/index.ts';
import type { Cause } from './cause.ts';
import { invalid, when } from './cause.ts';

/** Every reason to refuse a MigrationPolicy besides its shape, which bounds times already. */
export const validateMigrationPolicy = ({ spec }: MigrationPolicy): Cause[] => {
  const { bandwidthPerMigration: bandwidth } = spec;
  return when(bandwidth !== undefined && quantityValue(bandwidth) < 0, () =>
    invalid('spec.bandwidthPerMigration', `${bandwidth} is negative: use 0 for no limit`),
  );
};
