import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { until } from './until.ts';

/** Somebody at a guest's serial console. */
export interface Console {
  /** Everything that came out so far. */
  text(): string;
  /** Types a line. */
  type(line: string): void;
  /** Waits for a text that comes out after this call. */
  waitFor(text: string): Promise<void>;
  /** Types lines until the shell answers: it may not have started yet. */
  awaitShell(): Promise<void>;
  close(): void;
}

export const consoleOver = (stream: Duplex): Console => {
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  stream.on('error', () => undefined);
  const type = (line: string): void => void stream.write(`${line}\n`);
  return {
    text: () => text,
    type,
    async waitFor(wanted) {
      const from = text.length;
      await until(`the console shows ${JSON.stringify(wanted)}`, () => text.includes(wanted, from), {
        seen: () => text.slice(-1_000),
      });
    },
    async awaitShell() {
      let attempt = 0;
      await until(
        'the shell answers at the console',
        () => {
          if (text.includes(`shell-${attempt}-ready`)) return true;
          // What is typed is echoed: the answer has to differ from it.
          type(`echo shell-$((${++attempt}))-ready`);
          return false;
        },
        { everyMs: 500, timeoutMs: 60_000, seen: () => text.slice(-1_000) },
      );
    },
    close: () => void stream.destroy(),
  };
};

/** At the console socket in a Pod's volume. */
export const openConsole = (socket: string): Console => consoleOver(connect(socket));
