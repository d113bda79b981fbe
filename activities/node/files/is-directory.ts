import { stat } from 'node:fs/promises';

/** True if there is a directory; whatever keeps it from being looked at means that there is none for us. */
export const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
