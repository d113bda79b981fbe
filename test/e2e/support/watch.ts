import { execa } from 'execa';
import { createInterface } from 'node:readline';

/** A watch on one object by its name: every state that the API server tells, in order, until it is stopped. */
export interface Watch<T> {
  /** `at`: when it was heard, in ms. */
  seen: { type: string; object: T; at: number }[];
  stop: () => Promise<void>;
}

/** Watches with kubectl, deletions included. */
export function watchObject<T>(kind: string, name: string, namespace: string): Watch<T> {
  const selector = ['--field-selector', `metadata.name=${name}`];
  const format = ['--output-watch-events', '-o', "jsonpath={.type}{' '}{.object}{'\\n'}"];
  const process = execa('kubectl', ['get', kind, '-n', namespace, ...selector, '--watch', ...format], {
    reject: false,
    buffer: false,
    stdin: 'ignore',
  });
  const seen: Watch<T>['seen'] = [];
  const lines = createInterface({ input: process.stdout });
  lines.on('line', (text) => {
    const space = text.indexOf(' ');
    seen.push({ type: text.slice(0, space), object: JSON.parse(text.slice(space + 1)) as T, at: Date.now() });
  });
  return {
    seen,
    stop: async () => {
      process.kill();
      await process;
    },
  };
}
