import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { TlsCredentials } from '../../../../../api/contract/certificates.ts';
import type { HttpsHandlers, HttpsServer } from '../../../../../workers/controller/https/server.ts';
import { serveHttps } from '../../../../../workers/controller/https/server.ts';
import type { Authority } from '../../../../support/peers.ts';
import { authority } from '../../../../support/peers.ts';

const directory = mkdtempSync(join(tmpdir(), 'virtflow-https-'));
const log = pino({ level: 'silent' });
const HOST = 'virtflow-api.virtflow.svc';

let ours: Authority;
let later: Authority;
let proxies: Authority;
beforeAll(() => {
  [ours, later, proxies] = ['ours', 'later', 'proxies'].map((name) => authority(directory, name)) as [
    Authority,
    Authority,
    Authority,
  ];
});
afterAll(() => rmSync(directory, { recursive: true }));

let stopping = new AbortController();
let server: HttpsServer | undefined;
afterEach(async () => {
  stopping.abort();
  await server?.closed;
  stopping = new AbortController();
});

/** Something that changes, and whom it tells. */
const changing = <T>(first: T) => {
  let value = first;
  const listeners: (() => void)[] = [];
  return {
    current: () => value,
    onChange: (listener: () => void) => void listeners.push(listener),
    become: (next: T) => {
      value = next;
      for (const listener of listeners) listener();
    },
  };
};

const own = (): TlsCredentials => ours.issue({ san: `DNS:${HOST}` });

const start = async (mounts: Record<string, HttpsHandlers>, options: { drainMs?: number } = {}) => {
  const credentials = { ...changing<TlsCredentials | undefined>(own()), ready: Promise.resolve() };
  const clientCas = changing<string | undefined>(undefined);
  server = await serveHttps({
    ...{ port: 0, credentials, mounts, clientCas, log, signal: stopping.signal, drainMs: options.drainMs ?? 0 },
  });
  return { credentials, clientCas, port: server.port };
};

const says = (what: string): HttpsHandlers => ({
  request: (incoming, response) => {
    const socket = incoming.socket as TLSSocket;
    response.end(`${what} ${incoming.url} ${socket.authorized ? 'known' : 'unknown'}`);
  },
  upgrade: (_, socket) => void socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${what}`),
});

const ask = async (
  port: number,
  path: string,
  options: { ca?: string; client?: TlsCredentials; agent?: Agent } = {},
): Promise<{ status: number; body: string; headers: IncomingMessage['headers'] }> => {
  const { ca = ours.certificate, client, agent = new Agent({ maxCachedSessions: 0 }) } = options;
  const asked = request({
    ...{ host: '127.0.0.1', port, path, ca, servername: HOST, agent },
    ...(client === undefined ? {} : { cert: client.cert, key: client.key }),
  });
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response), headers: response.headers };
};

test('a request goes to the mount with the longest prefix of whole path segments', async () => {
  const { port } = await start({ '/a': says('a'), '/a/b': says('b') });
  const answers = ['/a', '/a/x?y=/a/b', '/a/b/c', '/ab', '/'].map(async (path) => (await ask(port, path)).body);
  expect(await Promise.all(answers)).toEqual([
    'a /a unknown',
    'a /a/x?y=/a/b unknown',
    'b /a/b/c unknown',
    'there is nothing here\n',
    'there is nothing here\n',
  ]);
});

test('an upgrade goes there too, and one that leads nowhere is answered', async () => {
  const { port } = await start({ '/a': says('upgraded') });
  const upgrade = async (path: string): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port, ca: ours.certificate, servername: HOST });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`);
    return text(socket);
  };
  expect(await upgrade('/a')).toMatch(/^HTTP\/1.1 101 .*\r\n\r\nupgraded$/s);
  expect(await upgrade('/b')).toMatch(/^HTTP\/1.1 404 /);
});

test('a new certificate holds for the next connection; those that stand go on', async () => {
  const { port, credentials } = await start({ '/a': says('a') });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await ask(port, '/a', { agent });
  credentials.become(later.issue({ san: `DNS:${HOST}` }));
  expect((await ask(port, '/a', { agent })).status).toBe(200);
  await expect(ask(port, '/a')).rejects.toThrow(/certificate/);
  expect((await ask(port, '/a', { ca: later.certificate })).status).toBe(200);
  agent.destroy();
});

test('clients are known by the authorities of the moment, and let in without', async () => {
  const { port, clientCas } = await start({ '/a': says('a') });
  const client = proxies.issue();
  const answer = async (shown?: TlsCredentials): Promise<string> =>
    (await ask(port, '/a', shown === undefined ? {} : { client: shown })).body;
  expect(await answer(client)).toBe('a /a unknown');
  clientCas.become(proxies.certificate);
  expect(await answer(client)).toBe('a /a known');
  expect(await answer(ours.issue())).toBe('a /a unknown');
  expect(await answer()).toBe('a /a unknown');
});

test('a handler that throws is an answer, not the end of the server', async () => {
  const fails = (): never => {
    throw new Error('no');
  };
  const { port } = await start({ '/a': { request: fails, upgrade: fails }, '/b': says('b') });
  expect((await ask(port, '/a')).status).toBe(500);
  expect((await ask(port, '/b')).status).toBe(200);
});

test('after the signal it serves on for a while, on connections that end', async () => {
  const { port } = await start({ '/a': says('a') }, { drainMs: 300 });
  stopping.abort();
  const { status, headers } = await ask(port, '/a');
  expect({ status, connection: headers.connection }).toEqual({ status: 200, connection: 'close' });
  await server?.closed;
  await expect(ask(port, '/a')).rejects.toThrow(/ECONNREFUSED/);
});
