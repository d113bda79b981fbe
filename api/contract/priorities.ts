/**
 * Priorities of workflow tasks and activities at Temporal, 1 first (it begins with 3). When more is to be done than can be, what has begun comes before
 * what begins: the first VMs run early instead of all of them late.
 */
export const PRIORITIES = { operation: 2, virtualMachine: 4 } as const;
