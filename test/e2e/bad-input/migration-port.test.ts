import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { encodeFrame, readFrame } from '../../../activities/node/migration-proxy/frames.ts';
import type { TlsCredentials } from '../../../api/contract/certificates.ts';
import { nodes } from '../../../deploy/local/cluster/addresses.ts';
import { authority, type Authority } from '../../support/peers.ts';
import { kubectl } from '../support/kubectl.ts';
import { MIGRATION_PORT } from '../support/link.ts';
import { nodeVar } from '../support/nodes.ts';
import { SYSTEM_NAMESPACE, systemPods, untilSystemReady } from '../support/pods.ts';

/** Who comes to this node, and from which other one it may claim to come. */
const [NODE, OTHER] = nodes.map(({ name }) => name) as [string, string];
const ADDRESS = nodes[0]?.address ?? '';
/** How long a worker waits for whoever does not say what it wants, and a margin, in milliseconds. */
const PATIENCE = 10_000;
const PURPOSE = { migrationUid: '00000000-0000-4000-8000-000000000000', channel: 'memory' };
const REFUSED = 'a connection to the migration port is refused';

const directory = mkdtempSync(join(tmpdir(), 'virtflow-'));
const started = new Date();
let strangers: Authority;
let before: unknown;

beforeAll(async () => {
  await untilSystemReady();
  strangers = authority(directory, 'strangers');
  before = await restarts();
});
afterAll(() => rm(directory, { recursive: true }));

const restarts = async (): Promise<unknown> =>
  (await systemPods('node')).map(({ metadata, status }) => [
    metadata?.name,
    status?.containerStatuses?.[0]?.restartCount,
  ]);

/** Lines of the node worker's log about refusals, since the tests began. */
async function refusals(): Promise<{ kind: string; reason: string }[]> {
  const [pod] = await systemPods('node', NODE);
  const since = `--since-time=${started.toISOString()}`;
  const log = await kubectl(['logs', pod?.metadata?.name ?? '', '-n', SYSTEM_NAMESPACE, since]);
  return log
    .split('\n')
    .filter((line) => line.includes(REFUSED))
    .map((line) => JSON.parse(line) as { kind: string; reason: string });
}

/** Sends the text and waits until the other side closes. */
async function closedAfter(text: string): Promise<void> {
  const socket = connect({ host: ADDRESS, port: MIGRATION_PORT });
  // A reset is an end too.
  socket.on('error', () => undefined);
  socket.resume();
  socket.write(text, 'latin1');
  await once(socket, 'close', { signal: AbortSignal.timeout(PATIENCE) });
}

/** Shows a certificate (or none), says what it wants, and returns the answer. */
async function greetingFor(credentials: Partial<TlsCredentials>, purpose: unknown = PURPOSE): Promise<unknown> {
  const socket = connectTls({
    ...{ host: ADDRESS, port: MIGRATION_PORT, minVersion: 'TLSv1.3', rejectUnauthorized: false },
    ...credentials,
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(PATIENCE) });
    socket.write(encodeFrame(purpose));
    return await readFrame(socket, { maxBytes: 4096, timeoutMs: PATIENCE });
  } finally {
    socket.destroy();
  }
}

const own = async (node: string): Promise<TlsCredentials> =>
  JSON.parse(await readFile(nodeVar(node, 'lib/virtflow/certificates/credentials.json'), 'utf8')) as TlsCredentials;

const refused = (reason: string): unknown => ({ accepted: false, reason: expect.stringContaining(reason) });

describe('the migration port of a node refuses', () => {
  test.each([
    ['garbage', '\0\xff\x16garbage'.repeat(100)],
    ['HTTP', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a frame without TLS', encodeFrame(PURPOSE).toString('latin1')],
    ['whoever says nothing', ''],
  ])('%s', async (_, text) => {
    for (let n = 0; n < 3; n += 1) await closedAfter(text);
  });

  test('a certificate of another CA, and says why', async () => {
    const stranger = strangers.issue({ node: OTHER });
    for (let n = 0; n < 3; n += 1) expect(await greetingFor(stranger)).toEqual(refused('of another CA'));
  });

  test('whoever shows no certificate', async () => {
    const answer = await greetingFor({}).catch((error: unknown) => ({ accepted: false, reason: String(error) }));
    expect(answer).toMatchObject({ accepted: false });
  });

  test('a node worker that comes for a migration which is not under way', async () => {
    expect(await greetingFor(await own(OTHER))).toEqual(refused('migration'));
  });

  test('a header that it does not know, and one that is too long', async () => {
    expect(await greetingFor(await own(OTHER), { migrationUid: '../../etc', channel: 'x' })).toEqual(refused('header'));
    expect(await greetingFor(await own(OTHER), { pad: 'x'.repeat(5_000) })).toEqual(refused('bytes'));
  });
});

test('each of them is told once in the log, and nothing else is disturbed', async () => {
  const told = await refusals();
  expect(told.length).toBeGreaterThan(3);
  const keys = told.map(({ kind, reason }) => `${kind}: ${reason}`);
  expect(keys).toEqual([...new Set(keys)]);
  expect(JSON.stringify(told)).not.toContain('PRIVATE KEY');
  expect(await restarts()).toEqual(before);
});
