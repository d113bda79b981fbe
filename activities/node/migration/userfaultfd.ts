import { readFile, writeFile } from 'node:fs/promises';
import { errorCode } from '../files/error-code.ts';

const SWITCH = '/proc/sys/vm/unprivileged_userfaultfd';

/** Post-copy's target handles its guest's page faults itself; the kernel lets only root do so by default. A kernel without the switch allows it. */
export const allowUserfaultfd = async (file = SWITCH): Promise<void> => {
  try {
    if ((await readFile(file, 'utf8')).trim() !== '1') await writeFile(file, '1');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
};
