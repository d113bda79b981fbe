import type { ConditionReport } from '../../api/contract/activities.ts';

/** A condition as it stands on an object. */
export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastProbeTime?: string | null;
  lastTransitionTime?: string | null;
}

/**
 * Conditions to write: those reported, each with the time of its last change of status; and those on the object whose type is not `owned` here
 * (another writer's). Reported ones come first, in their order.
 */
export const mergeConditions = (
  live: readonly Condition[],
  reported: readonly ConditionReport[],
  owned: (type: string) => boolean,
  now: string,
): Condition[] => {
  const written = reported.map((condition): Condition => {
    const before = live.find(({ type, status }) => type === condition.type && status === condition.status);
    return {
      type: condition.type,
      status: condition.status,
      ...(condition.reason === undefined ? {} : { reason: condition.reason }),
      ...(condition.message === undefined ? {} : { message: condition.message }),
      lastProbeTime: null,
      lastTransitionTime: before?.lastTransitionTime ?? now,
    };
  });
  const names = new Set(written.map(({ type }) => type));
  return [...written, ...live.filter(({ type }) => !names.has(type) && !owned(type))];
};

/** Times are written in whole seconds, as Kubernetes writes them. */
export const timestamp = (time: Date | string): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
