type Results<P extends readonly Promise<unknown>[]> = { -readonly [K in keyof P]: Awaited<P[K]> };

/** Waits for all parts. Once one fails the others are cancelled, and none is left running. @throws what the first failed with */
export const together = async <P extends readonly Promise<unknown>[] | []>(
  cancelled: AbortSignal,
  begin: (cancelled: AbortSignal) => P,
): Promise<Results<P>> => {
  const failed = new AbortController();
  const parts = begin(AbortSignal.any([cancelled, failed.signal]));
  try {
    return await Promise.all(parts);
  } catch (error) {
    failed.abort();
    await Promise.allSettled(parts);
    throw error;
  }
};
