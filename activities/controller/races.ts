import { isConflict, isNotFound } from '../kube/errors.ts';

/** Another writer (the front door) is expected now and then, not every time. */
const ROUNDS = 5;

/** Runs read-and-write again while somebody else wrote in between. @throws the last conflict */
export const onConflictAgain = async <T>(readAndWrite: () => Promise<T>, rounds = ROUNDS): Promise<T> => {
  for (let round = 1; ; round += 1) {
    try {
      return await readAndWrite();
    } catch (error) {
      if (!isConflict(error) || round >= rounds) throw error;
    }
  }
};

/**
 * Reads and writes, first from what a watch has shown. Only a live read says that there is nothing to write, and one follows when the watch was behind.
 * @param readAndWrite reads live what it is not given
 */
export const fromCacheFirst = async <O, T>(
  cached: O | undefined,
  readAndWrite: (known?: O) => Promise<{ wrote: boolean; value: T }>,
): Promise<T> => {
  if (cached !== undefined) {
    try {
      const { wrote, value } = await readAndWrite(cached);
      if (wrote) return value;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
  return onConflictAgain(async () => (await readAndWrite()).value);
};

/** The object may go between read and write, and then there is nothing left to do. */
export const ifStillThere = async <T>(write: Promise<T>): Promise<T | undefined> => {
  try {
    return await write;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return undefined;
  }
};
