/** Code of a system error (ENOENT, EEXIST, …); undefined for whatever else was thrown. */
export const errorCode = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
