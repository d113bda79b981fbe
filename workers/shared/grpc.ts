/** Codes of gRPC's status that virtflow tells apart (gRPC's own numbers). */
const CODES: Record<number, string> = {
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  5: 'NOT_FOUND',
  6: 'ALREADY_EXISTS',
  7: 'PERMISSION_DENIED',
  14: 'UNAVAILABLE',
};

/** Name of the gRPC status behind an error of Temporal's client, looked for along its causes; undefined when there is none. */
export const grpcCode = (error: unknown): string | undefined => {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'number') return CODES[at.code] ?? `GRPC_${at.code}`;
  }
  return undefined;
};
