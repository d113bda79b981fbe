import { expect, test } from '@jest/globals';
import { greeting, handOverReply, header } from '../../../../../activities/node/migration-proxy/messages.ts';

test.each(['libvirt', 'memory', 'block', 'handOver'])('channel %s is known', (channel) => {
  expect(header.safeParse({ migrationUid: '0f3c2f6e-8a5e-4a8e-9a43-5b1f6f2f9c11', channel }).success).toBe(true);
});

test.each([
  ['another channel', { migrationUid: 'a', channel: 'console' }],
  ['a path for a uid', { migrationUid: '../../etc/shadow', channel: 'memory' }],
  ['no uid', { migrationUid: '', channel: 'memory' }],
  ['a uid without end', { migrationUid: 'a'.repeat(65), channel: 'memory' }],
  ['no object', 'memory'],
  ['nothing', null],
])('a header with %s is refused', (_, value) => {
  expect(header.safeParse(value).success).toBe(false);
});

test('an answer that is neither yes nor no is refused', () => {
  expect(greeting.safeParse({ accepted: true }).success).toBe(true);
  expect(greeting.safeParse({ accepted: false, reason: 'because' }).success).toBe(true);
  expect(greeting.safeParse({ accepted: false }).success).toBe(false);
  expect(greeting.safeParse({ reason: 'because' }).success).toBe(false);
});

test('a failure of a type that this release does not know is carried as a surprise', () => {
  expect(handOverReply.parse({ failure: { type: 'FromTheFuture', message: 'm' } })).toEqual({
    failure: { type: 'Unknown', message: 'm' },
  });
  expect(handOverReply.parse({ failure: { type: 'StaleToken', message: 'm' } })).toEqual({
    failure: { type: 'StaleToken', message: 'm' },
  });
});
