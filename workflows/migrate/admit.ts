import type { AdmittedMigration } from '../../api/contract/migrations.ts';
import type { Round } from '../operation/operation.ts';
import { isDefect } from '../shared/failures.ts';
import { controllerActivities } from '../shared/proxies.ts';
import type { Left } from './left.ts';
import { leftOf } from './left.ts';
import type { Migration } from './migration.ts';

export interface Admission {
  /** Absent: it shall not be carried out (any more); what is left must be brought to an end. */
  admitted?: AdmittedMigration;
  /** Why it was refused. */
  refusal?: Error;
  left?: Left;
}

/**
 * Whether the VMI may be migrated, and what an earlier run of this migration has left. What is left comes first: it is not refused, it is dealt with.
 * @throws InvalidSpec, ObjectGone, NotMigratable, OperationUnderWay
 */
export const admitted = async ({ on, unwanted }: Migration, { summary }: Round): Promise<Admission> => {
  const { admitMigration, adoptInstance } = controllerActivities(summary);
  // Without an instance nothing can be left of it.
  const looking = on.vmi.uid === '' ? undefined : adoptInstance(on.vmi);
  const [admission, world] = await Promise.allSettled([admitMigration(on), looking]);
  if (world.status === 'rejected') throw world.reason as Error;
  const left = world.value === undefined ? undefined : leftOf(on.migration.uid, world.value);
  if (admission.status === 'rejected') {
    if (left === undefined || isDefect(admission.reason)) throw admission.reason as Error;
    return { left, refusal: admission.reason as Error };
  }
  const { facts } = admission.value;
  const isUnwanted = facts.deleting || isFinal(facts.phase) || unwanted() !== undefined;
  if (left !== undefined) return { left, ...(isUnwanted ? {} : { admitted: admission.value }) };
  return isUnwanted ? {} : { admitted: admission.value };
};

const isFinal = (phase: string): boolean => phase === 'Succeeded' || phase === 'Failed';
