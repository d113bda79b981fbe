import type { PodRef } from '../../api/contract/refs.ts';
import type { Round } from '../operation/operation.ts';
import { toFailureInfo } from '../shared/failures.ts';
import { controllerActivities } from '../shared/proxies.ts';
import type { Migration } from './migration.ts';

/** The source holds the token for good: from here on nothing moves the guest. A token that has passed on since needs nothing from us. */
export const tokenStays = async ({ on, stays }: Migration, source: PodRef, { summary, note }: Round): Promise<void> => {
  try {
    await controllerActivities(summary).tokenStays({ ...on, source });
  } catch (error) {
    const { type, message } = toFailureInfo(error);
    if (type !== 'StaleToken' && type !== 'ObjectGone') throw error;
    note(message);
  }
  stays();
};
