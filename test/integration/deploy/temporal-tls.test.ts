import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { parse } from 'yaml';
import { z } from 'zod';
import { startTemporalServer } from '../../support/temporal-server.ts';
import { makeCertificates, startTerminator } from '../../support/tls-terminator.ts';
import type { Terminator } from '../../support/tls-terminator.ts';
import type { TestTemporalServer } from '../../support/temporal-server.ts';
import { connectTemporal } from '../../../workers/shared/temporal.ts';

const COMPONENT = join(import.meta.dirname, '../../../deploy/components/temporal-tls/workers.yaml');
const MOUNT = '/etc/virtflow/temporal-tls';

const directory = mkdtempSync(join(tmpdir(), 'virtflow-tls-'));
const before = { ...process.env };
let temporal: TestTemporalServer;
let terminator: Terminator;

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
  makeCertificates(directory, '127.0.0.1');
  temporal = await startTemporalServer();
  terminator = await startTerminator(directory, '127.0.0.1', temporal.address);
}, 90_000);

afterEach(() => {
  process.env = { ...before };
});

afterAll(async () => {
  terminator?.close();
  await temporal?.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a worker reaches Temporal through TLS with the client certificate of the component', async () => {
  Object.assign(process.env, componentEnvironment(), {
    TEMPORAL_ADDRESS: terminator.address,
    TEMPORAL_NAMESPACE: 'default',
  });
  const { connection } = await connectTemporal(pino({ level: 'silent' }), AbortSignal.timeout(30_000));
  try {
    const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: 'default' });
    expect(namespaceInfo?.name).toBe('default');
  } finally {
    await connection.close();
  }
});

test('a worker without client certificate is not let in, and says which settings to check, again only when something else is wrong', async () => {
  const { TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca = '' } = componentEnvironment();
  Object.assign(process.env, {
    TEMPORAL_ADDRESS: terminator.address,
    TEMPORAL_TLS: 'true',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca,
  });
  const reasons: string[] = [];
  const logged: string[] = [];
  const log = pino({}, { write: (line) => void logged.push(line) });
  await expect(connectTemporal(log, AbortSignal.timeout(5_000), (reason) => reasons.push(reason))).rejects.toThrow();
  expect(reasons.at(-1)).toMatch(`Temporal at ${terminator.address} does not let us in`);
  expect(reasons.at(-1)).toContain('TEMPORAL_TLS');
  expect(logged).toHaveLength(reasons.filter((reason, index) => reason !== reasons[index - 1]).length);
});
