import { Socket } from 'node:net';
import { expect, jest, test } from '@jest/globals';
import type { GuestStream } from '../../../../../api/contract/guest-access.ts';
import type { GuestRequest } from '../../../../../workers/node/guest-access/request.ts';
import { Streams } from '../../../../../workers/node/guest-access/streams.ts';

const asking = (what: GuestStream, podUid = 'pod-1', params = {}): GuestRequest<GuestStream> => ({
  what,
  vmi: { namespace: 'ns', name: 'vm', uid: 'vmi-1' },
  pod: { name: 'launcher', uid: podUid },
  params,
});
const status = (code: number): unknown => expect.objectContaining({ status: code });

test('of two that come at once the later has the console, and the earlier is not even let in', () => {
  const streams = new Streams();
  const [first, second] = [streams.take(asking('console')), streams.take(asking('console'))];
  const accept = jest.fn(() => new Socket());
  expect(() => first.join(new Socket(), accept)).toThrow(status(409));
  expect(accept).not.toHaveBeenCalled();
  second.join(new Socket(), accept);
  expect(accept).toHaveBeenCalledTimes(1);
  expect(streams.count()).toEqual({ console: 1, vnc: 0, portforward: 0 });
});

test('whoever does not want to disturb is refused as long as somebody has it, or is about to', () => {
  const streams = new Streams();
  const place = streams.take(asking('vnc'));
  const polite = asking('vnc', 'pod-1', { preserveSession: 'true' });
  expect(() => streams.take(polite)).toThrow(status(409));
  expect(() => streams.take(asking('console', 'pod-1', { preserveSession: 'true' }))).not.toThrow();
  expect(() => streams.take({ ...polite, pod: { name: 'other', uid: 'pod-2' } })).not.toThrow();
  place.leave();
  expect(() => streams.take(polite)).not.toThrow();
});

test('a guest has so many streams, and all of them together so many; a client that takes a place over needs none', () => {
  const streams = new Streams({ maxPerGuest: 2, maxTotal: 3 });
  streams.take(asking('console'));
  const forwarded = streams.take(asking('portforward'));
  expect(() => streams.take(asking('portforward'))).toThrow(status(429));
  expect(() => streams.take(asking('console'))).not.toThrow();
  streams.take(asking('portforward', 'pod-2'));
  expect(() => streams.take(asking('portforward', 'pod-3'))).toThrow(status(429));
  forwarded.leave();
  expect(() => streams.take(asking('portforward', 'pod-3'))).not.toThrow();
});

test.each([
  [{ state: 'running' as const }, false],
  [{ state: 'paused' as const }, false],
  [{ state: 'shuttingDown' as const }, false],
  [{ state: 'shutoff' as const, end: 'migrated' as const }, true],
  [{ state: 'crashed' as const, end: 'crashed' as const }, true],
  [{ state: 'none' as const }, true],
])('after a report of %j a stream that is about to open is over: %s', (report, isOver) => {
  const streams = new Streams();
  const place = streams.take(asking('portforward'));
  const other = streams.take(asking('portforward', 'pod-2'));
  streams.reported({ podUid: 'pod-1', ...report });
  const join = (): void => place.join(new Socket(), () => new Socket());
  if (isOver) expect(join).toThrow(status(409));
  else expect(join).not.toThrow();
  expect(() => other.join(new Socket(), () => new Socket())).not.toThrow();
});
