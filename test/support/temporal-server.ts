import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { createContext } from '../../deploy/local/context.ts';
import { temporalCli } from '../../deploy/local/steps/temporal.ts';
import { until } from './until.ts';

export interface TestTemporalServer {
  address: string;
  /** kill -9, forget everything if asked to, start again; resolves when it serves. */
  restart(options?: { wiped: boolean }): Promise<void>;
  close(): Promise<void>;
}

/** Temporal's dev server of our own, with its data in a file, without virtflow's namespace. */
export const startTemporalServer = async (): Promise<TestTemporalServer> => {
  const dir = await mkdtemp(join(tmpdir(), 'virtflow-temporal-'));
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  listener.close();
  const address = `127.0.0.1:${port}`;
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const data = ['--db-filename', join(dir, 'temporal.db'), '--log-level', 'error'];
    const command = temporalCli(createContext());
    server = spawn(
      command,
      ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port), ...data],
      {
        stdio: 'ignore',
      },
    );
    const serves = async (): Promise<boolean> => {
      const connection = await Connection.connect({ address, connectTimeout: '1s' }).catch(() => undefined);
      await connection?.close();
      return connection !== undefined;
    };
    await until('Temporal serves', serves, { timeoutMs: 60_000, everyMs: 200 });
  };
  const kill = async (): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    address,
    restart: async ({ wiped } = { wiped: false }) => {
      await kill();
      if (wiped)
        await Promise.all(['', '-wal', '-shm'].map((part) => rm(join(dir, `temporal.db${part}`), { force: true })));
      await start();
    },
    close: async () => {
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
};
