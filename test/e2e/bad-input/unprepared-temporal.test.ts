import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import { createContext } from '../../../deploy/local/context.ts';
import { SEARCH_ATTRIBUTES } from '../../../api/contract/search-attributes.ts';
import { startTemporalServer } from '../../support/temporal-server.ts';
import type { TestTemporalServer } from '../../support/temporal-server.ts';
import { until } from '../../support/until.ts';

jest.setTimeout(180_000);

/** Of a worker that never gets as far as to lead or to poll: it shares the cluster with the deployed ones. */
const HEALTH_PORT = '18080';
const REMEDY = 'virtflow temporal setup';

let temporal: TestTemporalServer;
const at = (namespace: string) => ({ TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: namespace });
const temporalCli = (namespace: string, ...args: string[]) => execa('temporal', args, { env: at(namespace) });

/** A controller worker of these sources, with its log as it grows. */
async function withWorker<T>(env: Record<string, string>, use: (log: () => string) => Promise<T>): Promise<T> {
  const worker = execa(process.execPath, ['--no-warnings', join(createContext().root, 'workers/controller/main.ts')], {
    env: { ...env, LAUNCHER_IMAGE: 'none', HEALTH_PORT, TEMPORAL_METRICS_PORT: '19464', POD_NAMESPACE: 'none' },
    reject: false,
    all: true,
  });
  let log = '';
  worker.all.on('data', (data: Buffer) => (log += data.toString()));
  try {
    return await use(() => log);
  } finally {
    worker.kill('SIGKILL');
    await worker;
  }
}

const readiness = async (): Promise<{ status: number; text: string } | undefined> => {
  const response = await fetch(`http://127.0.0.1:${HEALTH_PORT}/readyz`).catch(() => undefined);
  return response && { status: response.status, text: await response.text() };
};

const untilNotReady = (says: string): Promise<unknown> =>
  until(
    `/readyz says "${says}"`,
    async () => {
      const answer = await readiness();
      return answer?.status === 503 && answer.text.includes(says) ? answer : undefined;
    },
    { timeoutMs: 60_000, everyMs: 300 },
  );

beforeAll(async () => {
  temporal = await startTemporalServer();
});
afterAll(() => temporal.close());

test('a worker whose Temporal namespace is missing is not ready and names the command', async () => {
  await withWorker(at('nowhere'), async (log) => {
    await untilNotReady('Temporal has no namespace nowhere');
    expect((await readiness())?.text).toContain(REMEDY);
    expect(
      log()
        .split('\n')
        .filter((line) => line.includes(REMEDY)),
    ).toHaveLength(1);
  });
});

test('a worker whose search attributes are missing is not ready and names them and the command', async () => {
  await temporalCli('half', 'operator', 'namespace', 'create', '-n', 'half');
  await withWorker(at('half'), async (log) => {
    await untilNotReady('lacks the search attributes');
    const text = (await readiness())?.text ?? '';
    for (const attribute of SEARCH_ATTRIBUTES) expect(text).toContain(attribute);
    expect(text).toContain(REMEDY);
    expect(log()).toContain(REMEDY);
  });
});

test('a worker that cannot reach Temporal is not ready and says which address', async () => {
  const env = { TEMPORAL_ADDRESS: '127.0.0.1:1', TEMPORAL_NAMESPACE: 'virtflow' };
  await withWorker(env, async (log) => {
    await untilNotReady('127.0.0.1:1');
    await until('the log says so', () => log().includes('Check TEMPORAL_ADDRESS and the TEMPORAL_TLS settings'), {
      timeoutMs: 30_000,
    });
  });
});

test('virtflow temporal setup makes what is missing, and can be repeated', async () => {
  const setup = async () => (await execa('virtflow', ['temporal', 'setup'], { env: at('half') })).stdout;
  expect(await setup()).toContain(`search attributes added: ${SEARCH_ATTRIBUTES.join(', ')}`);
  expect(await setup()).toContain('search attributes are registered');
  const { stdout } = await temporalCli('half', 'operator', 'search-attribute', 'list', '-n', 'half');
  for (const attribute of SEARCH_ATTRIBUTES) expect(stdout).toMatch(new RegExp(`${attribute} +Keyword`));
});
