import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';

const openssl = (...args: string[]): Buffer => execFileSync('openssl', args, { stdio: 'pipe' });

/** Makes a CA (ca.crt), and signed by it a server's (server.crt, server.key) and a client's certificate (tls.crt, tls.key), in a directory. */
export function makeCertificates(directory: string, serverAddress: string): void {
  const at = (file: string): string => join(directory, file);
  openssl(
    ...'req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=test-ca -keyout'.split(' '),
    at('ca.key'),
    '-out',
    at('ca.crt'),
  );
  for (const name of ['server', 'tls']) {
    openssl(
      ...`req -newkey rsa:2048 -nodes -subj /CN=${name} -addext subjectAltName=IP:${serverAddress} -keyout`.split(' '),
      at(`${name}.key`),
      '-out',
      at(`${name}.csr`),
    );
    const signed = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-copy_extensions', 'copy'];
    openssl('x509', '-req', '-days', '1', '-in', at(`${name}.csr`), '-out', at(`${name}.crt`), ...signed);
  }
}

export interface Terminator {
  /** host:port */
  address: string;
  /** Names in the client certificates of the connections that were let in. */
  clients: string[];
  close(): void;
}

/** Ends TLS before a Temporal server that speaks plain gRPC, for clients with a certificate of the CA in the directory only. */
export async function startTerminator(directory: string, host: string, target: string): Promise<Terminator> {
  const [targetHost = '', targetPort = ''] = target.split(':');
  const read = (file: string): Buffer => readFileSync(join(directory, file));
  const clients: string[] = [];
  const server = createServer(
    {
      key: read('server.key'),
      cert: read('server.crt'),
      ca: read('ca.crt'),
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2'],
    },
    (client) => {
      clients.push(String(client.getPeerCertificate().subject.CN));
      const upstream = connect(Number(targetPort), targetHost);
      client.pipe(upstream).pipe(client);
      client.on('error', () => upstream.destroy());
      upstream.on('error', () => client.destroy());
    },
  ).listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { address: `${host}:${port}`, clients, close: () => server.close() };
}
