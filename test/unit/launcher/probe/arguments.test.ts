import { expect, test } from '@jest/globals';
import { readArguments } from '../../../../launcher/probe/arguments.ts';

test.each([
  [['--domainName', 'default_vm', '--timeoutSeconds', '5', '--guestAgentPing'], { kind: 'ping', timeoutSeconds: 5 }],
  [['--guestAgentPing'], { kind: 'ping', timeoutSeconds: 1 }],
  [
    ['--domainName', 'd', '--timeoutSeconds', '2', '--command', 'cat', '--', '/tmp/healthy', '-n'],
    { kind: 'exec', timeoutSeconds: 2, command: 'cat', args: ['/tmp/healthy', '-n'] },
  ],
  [['--command=true'], { kind: 'exec', timeoutSeconds: 1, command: 'true', args: [] }],
])('%j', (argv, order) => {
  expect(readArguments(argv)).toEqual(order);
});

test.each([[[]], [['--command']], [['--timeoutSeconds', '0', '--guestAgentPing']], [['--unknown']]])(
  '%j is not understood, and told how it is said',
  (argv) => {
    expect(() => readArguments(argv)).toThrow('usage: virt-probe');
  },
);
