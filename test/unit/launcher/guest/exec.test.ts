import { expect, test } from '@jest/globals';
import type { Agent } from '../../../../launcher/guest/exec.ts';
import { execInGuest } from '../../../../launcher/guest/exec.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
/** An agent whose command ends as told after it was asked so often. */
const agent = (end: object, looks = 1) => {
  const asked: { execute: string; args: object }[] = [];
  const run: Agent = (execute, _, args) => {
    asked.push({ execute, args });
    if (execute === 'guest-exec') return Promise.resolve({ pid: 7 });
    return Promise.resolve(asked.length > looks ? { exited: true, ...end } : { exited: false });
  };
  return { run, asked };
};
const order = { command: '/bin/check', args: ['a', 'b c'], timeoutSeconds: 5 };

test('a command is run with its arguments, and asked for until it has ended', async () => {
  const { run, asked } = agent({ exitcode: 0, 'out-data': base64('fine\n') }, 2);
  await expect(execInGuest(run, order)).resolves.toEqual({ exitCode: 0, output: 'fine\n' });
  expect(asked).toEqual([
    { execute: 'guest-exec', args: { path: '/bin/check', arg: ['a', 'b c'], 'capture-output': true } },
    { execute: 'guest-exec-status', args: { pid: 7 } },
    { execute: 'guest-exec-status', args: { pid: 7 } },
  ]);
});

test.each([
  ['its own exit code', { exitcode: 3 }, { exitCode: 3, output: '' }],
  ['a signal', { signal: 9 }, { exitCode: 137, output: '' }],
  ['words on standard error', { exitcode: 1, 'err-data': base64('no') }, { exitCode: 1, output: 'no' }],
])('a command ends with %s', async (_, end, expected) => {
  await expect(execInGuest(agent(end).run, order)).resolves.toEqual(expected);
});

test('one that does not end in time is refused', async () => {
  const { run } = agent({}, Infinity);
  await expect(execInGuest(run, { ...order, timeoutSeconds: 0 })).rejects.toMatchObject({ name: 'CommandRefused' });
});

test('an agent that refuses is passed on', async () => {
  const refuses: Agent = () => Promise.reject(new Error('guest-exec is disabled'));
  await expect(execInGuest(refuses, order)).rejects.toThrow('disabled');
});
