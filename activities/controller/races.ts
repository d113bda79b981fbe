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

/** The object may go between read and write, and then there is nothing left to do. */
export const ifStillThere = async <T>(write: Promise<T>): Promise<T | undefined> => {
  try {
    return await write;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return undefined;
  }
};
