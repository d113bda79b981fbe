/** Code of a system error (ENOENT, EEXIST, …); undefined for whatever else was thrown. */
export const errorCode = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;

/** For what may be gone by now: a file, a process. */
export const undefinedIfGone = (error: unknown): undefined => {
  if (['ENOENT', 'ENOTDIR', 'ESRCH'].includes(errorCode(error) ?? '')) return undefined;
  throw error;
};
