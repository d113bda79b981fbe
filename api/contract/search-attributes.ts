/** Search attributes of every virtflow workflow: Keywords, nine of the ten that SQL stores allow. */
export const SEARCH_ATTRIBUTES = [
  'VmNamespace',
  'VmName',
  'VmUid',
  'Phase',
  'Operation',
  'MigrationUid',
  'NodeName',
  'TargetNode',
  'FailureReason',
] as const;

/** Phase of a VM that has no instance. */
export const NO_INSTANCE = 'NoInstance';

export type SearchAttribute = (typeof SEARCH_ATTRIBUTES)[number];

/** How long closed workflows stay readable when virtflow creates the namespace, in days. */
export const RETENTION_DAYS = 45;

/** Temporal namespace that virtflow uses unless the environment configuration names another. */
export const DEFAULT_TEMPORAL_NAMESPACE = 'virtflow';
