import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PeerCredentials, TlsCredentials } from '../../api/contract/certificates.ts';
import { nodeCommonName, nodeUri } from '../../api/contract/certificates.ts';

/** A certificate authority made for a test. */
export interface Authority {
  /** PEM. */
  certificate: string;
  issue: (options?: Issue) => TlsCredentials;
}

export interface Issue {
  node?: string;
  /** Subject alternative name; by default that of the node. */
  san?: string;
  /** OpenSSL's figures, e.g. 20200101000000Z; by default valid now. */
  from?: string;
  until?: string;
}

const openssl = (...args: string[]): void =>
  void execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });

/** An authority with its files below a directory, by openssl. */
export const authority = (directory: string, name: string): Authority => {
  const base = join(directory, name);
  mkdirSync(join(base, 'issued'), { recursive: true });
  const at = (file: string): string => join(base, file);
  openssl(
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${name}`],
    ...['-days', '10', '-keyout', at('ca.key'), '-out', at('ca.crt')],
  );
  writeFileSync(at('index.txt'), '');
  const config = (san: string): string => `[ca]
default_ca = own
[own]
database = ${at('index.txt')}
new_certs_dir = ${at('issued')}
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
x509_extensions = leaf
[any]
commonName = supplied
[leaf]
subjectAltName = ${san}
extendedKeyUsage = serverAuth, clientAuth
`;
  let issued = 0;
  return {
    certificate: readFileSync(at('ca.crt'), 'utf8'),
    issue({ node = 'node-a', san = `URI:${nodeUri(node)}`, from, until } = {}) {
      const leaf = `leaf-${++issued}`;
      writeFileSync(at('ca.cnf'), config(san));
      openssl(
        ...['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
        ...['-subj', `/CN=${nodeCommonName(node)}`, '-keyout', at(`${leaf}.key`), '-out', at(`${leaf}.csr`)],
      );
      openssl(
        ...['ca', '-batch', '-config', at('ca.cnf'), '-cert', at('ca.crt'), '-keyfile', at('ca.key')],
        ...['-in', at(`${leaf}.csr`), '-out', at(`${leaf}.crt`), '-notext'],
        ...(from === undefined ? [] : ['-startdate', from]),
        ...(until === undefined ? ['-days', '5'] : ['-enddate', until]),
      );
      return {
        cert: readFileSync(at(`${leaf}.crt`), 'utf8'),
        key: readFileSync(at(`${leaf}.key`), 'utf8'),
        ca: readFileSync(at('ca.crt'), 'utf8'),
      };
    },
  };
};

/** Credentials that a test changes. */
export const credentialsOf = (first: TlsCredentials): PeerCredentials & { change: (next: TlsCredentials) => void } => {
  let now = first;
  const listeners: (() => void)[] = [];
  return {
    current: () => now,
    onChange: (listener) => void listeners.push(listener),
    ready: Promise.resolve(),
    detail: () => 'a certificate of a test',
    change(next) {
      now = next;
      for (const listener of listeners) listener();
    },
  };
};

/** A worker without a certificate. */
export const noCredentials: PeerCredentials = {
  current: () => undefined,
  onChange: () => undefined,
  ready: new Promise(() => undefined),
  detail: () => 'no certificate yet',
};
