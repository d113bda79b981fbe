import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGate } from '../../../../launcher/command-server/gate.ts';
import { until } from '../../../support/until.ts';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
let directory: string;
let gate: Server;
let accepted: Socket[];
let refused: number;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'vf-gate-'));
  accepted = [];
  refused = 0;
  gate = createGate({ accept: (socket) => accepted.push(socket), refused: () => (refused += 1) });
  await new Promise<void>((resolve) => gate.listen(join(directory, 'sock'), resolve));
});
afterEach(async () => {
  accepted.forEach((socket) => socket.destroy());
  await new Promise((resolve) => gate.close(resolve));
  rmSync(directory, { recursive: true });
});

test('a connection that begins like HTTP/2 gets in with every byte, wherever it is split', async () => {
  const client = connect(join(directory, 'sock'));
  client.setNoDelay(true);
  for (const part of [PREFACE.slice(0, 1), PREFACE.slice(1, 10), `${PREFACE.slice(10)}and more`]) {
    await new Promise((resolve) => client.write(part, resolve));
  }
  const [socket] = await until('the connection', () => (accepted.length > 0 ? accepted : undefined));
  const bytes = await until('its bytes', () => (socket?.read() as Buffer | null) ?? undefined);
  expect(bytes.toString()).toBe(`${PREFACE}and more`);
  client.destroy();
});

test.each(['GET / HTTP/1.1\r\n\r\n', 'P', '\0'])(
  'anything else is closed at its first wrong byte: %j',
  async (text) => {
    const client = connect(join(directory, 'sock'));
    client.on('error', () => undefined);
    client.write(text === 'P' ? 'PX' : text);
    await new Promise((resolve) => client.once('close', resolve));
    expect([accepted.length, refused]).toEqual([0, 1]);
  },
);
