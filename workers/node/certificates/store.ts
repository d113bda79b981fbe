import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode } from '../../../activities/node/files/error-code.ts';
import type { TlsCredentials } from '../../../api/contract/certificates.ts';
import { readCertificates } from '../../shared/certificates/certificate.ts';
import type { Logger } from '../../shared/logging.ts';
import { assertOwn, isIssuedByOne } from './renewal.ts';

const FILE = 'credentials.json';

const schema = z.object({ cert: z.string(), key: z.string(), ca: z.string() });

/** What a worker of this node stored before, if it is still good. Whatever is wrong with it, a new certificate is asked for. */
export const loadCredentials = async (
  directory: string,
  node: string,
  now: number,
  log: Pick<Logger, 'warn'>,
): Promise<TlsCredentials | undefined> => {
  try {
    const credentials = schema.parse(JSON.parse(await readFile(join(directory, FILE), 'utf8')));
    const leaf = new X509Certificate(credentials.cert);
    assertOwn(leaf, credentials.key, node);
    const isGood = leaf.validToDate.getTime() > now && isIssuedByOne(leaf, readCertificates(credentials.ca));
    return isGood ? credentials : undefined;
  } catch (error) {
    // Not the error itself: it may quote the key.
    if (errorCode(error) !== 'ENOENT')
      log.warn({ directory }, 'stored certificate cannot be read; asking for a new one');
    return undefined;
  }
};

/** For the next worker of this node, readable by root alone. A failure is logged: the certificate serves as long as this process lives. */
export const saveCredentials = async (
  directory: string,
  credentials: TlsCredentials,
  log: Pick<Logger, 'warn'>,
): Promise<void> => {
  const path = join(directory, FILE);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(`${path}.new`, JSON.stringify(credentials), { mode: 0o600 });
    await rename(`${path}.new`, path);
  } catch (error) {
    log.warn({ err: error, directory }, 'certificate not stored; a restarted worker will need a new one');
  }
};
