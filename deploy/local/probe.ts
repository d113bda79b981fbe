import { readFile } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';

export interface Tls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Whether GET answers 200 within two seconds. Files of `tls` are paths; without a CA a certificate is not checked. */
export async function answers(url: string, tls: Tls = {}): Promise<boolean> {
  const read = async (file: string | undefined): Promise<Buffer | undefined> => (file ? readFile(file) : undefined);
  const [ca, cert, key] = await Promise.all([read(tls.ca), read(tls.cert), read(tls.key)]);
  const options = { ca, cert, key, rejectUnauthorized: ca !== undefined, timeout: 2000, agent: false };
  return new Promise((resolve) => {
    const request = url.startsWith('https:') ? httpsGet(url, options) : httpGet(url, { timeout: 2000, agent: false });
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
    request.on('close', () => resolve(false));
  });
}
