import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import type { Server } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { parse } from 'yaml';
import { z } from 'zod';
import { startTemporalServer } from '../../support/temporal-server.ts';
import type { TestTemporalServer } from '../../support/temporal-server.ts';
import { connectTemporal } from '../../../workers/shared/temporal.ts';

const COMPONENT = join(import.meta.dirname, '../../../deploy/components/temporal-tls/workers.yaml');
const MOUNT = '/etc/virtflow/temporal-tls';

const directory = mkdtempSync(join(tmpdir(), 'virtflow-tls-'));
const at = (file: string): string => join(directory, file);
const before = { ...process.env };
let temporal: TestTemporalServer;
let terminator: Server;

const openssl = (...args: string[]): Buffer => execFileSync('openssl', args, { stdio: 'pipe' });

function makeCertificates(): void {
  openssl(
    ...'req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=test-ca -keyout'.split(' '),
    at('ca.key'),
    '-out',
    at('ca.crt'),
  );
  for (const name of ['server', 'tls']) {
    openssl(
      ...`req -newkey rsa:2048 -nodes -subj /CN=${name} -addext subjectAltName=IP:127.0.0.1 -keyout`.split(' '),
      at(`${name}.key`),
      '-out',
      at(`${name}.csr`),
    );
    const signed = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-copy_extensions', 'copy'];
    openssl('x509', '-req', '-days', '1', '-in', at(`${name}.csr`), '-out', at(`${name}.crt`), ...signed);
  }
}

/** Ends TLS before a Temporal server that speaks plain gRPC, for clients with a certificate of our CA only. */
async function startTerminator(target: string): Promise<Server> {
  const [host = '', port = ''] = target.split(':');
  const server = createServer(
    {
      key: readFileSync(at('server.key')),
      cert: readFileSync(at('server.crt')),
      ca: readFileSync(at('ca.crt')),
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2'],
    },
    (client) => {
      const upstream = connect(Number(port), host);
      client.pipe(upstream).pipe(client);
      client.on('error', () => upstream.destroy());
      upstream.on('error', () => client.destroy());
    },
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const variable = z.object({ value: z.object({ name: z.string(), value: z.string() }) });

/** The variables that the component gives the workers, with the Secret's directory being ours. */
const componentEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    (parse(readFileSync(COMPONENT, 'utf8')) as unknown[]).flatMap((operation) => {
      const { success, data } = variable.safeParse(operation);
      return success ? [[data.value.name, data.value.value.replace(MOUNT, directory)]] : [];
    }),
  );

beforeAll(async () => {
  makeCertificates();
  temporal = await startTemporalServer();
  terminator = await startTerminator(temporal.address);
}, 90_000);

afterEach(() => {
  process.env = { ...before };
});

afterAll(async () => {
  terminator?.close();
  await temporal?.close();
  rmSync(directory, { recursive: true, force: true });
});

const address = (): string => `127.0.0.1:${(terminator.address() as AddressInfo).port}`;

test('a worker reaches Temporal through TLS with the client certificate of the component', async () => {
  Object.assign(process.env, componentEnvironment(), { TEMPORAL_ADDRESS: address(), TEMPORAL_NAMESPACE: 'default' });
  const { connection } = await connectTemporal(pino({ level: 'silent' }), AbortSignal.timeout(30_000));
  try {
    const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: 'default' });
    expect(namespaceInfo?.name).toBe('default');
  } finally {
    await connection.close();
  }
});

test('a worker without client certificate is not let in', async () => {
  const { TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca = '' } = componentEnvironment();
  Object.assign(process.env, {
    TEMPORAL_ADDRESS: address(),
    TEMPORAL_TLS: 'true',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca,
  });
  await expect(connectTemporal(pino({ level: 'silent' }), AbortSignal.timeout(2_000))).rejects.toThrow();
});
