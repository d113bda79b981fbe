import { expect, test } from '@jest/globals';
import type { DomainReport } from '../../../../api/launcher/reports.ts';
import { isExcused } from '../../../../launcher/guest/excuse.ts';

type Now = Pick<DomainReport, 'state' | 'pausedBy'>;

test.each<[string, Now, boolean, boolean, boolean]>([
  ['runs', { state: 'running' }, false, false, false],
  ['runs and is being migrated', { state: 'running' }, true, true, true],
  ['is paused by a user', { state: 'paused', pausedBy: 'user' }, false, true, true],
  ['is paused by its storage', { state: 'paused', pausedBy: 'ioError' }, false, false, false],
  ['comes in', { state: 'incoming' }, false, true, true],
  ['is not there yet', { state: 'none' }, false, true, false],
  ['has crashed', { state: 'crashed' }, false, false, false],
])('a guest that %s', (_, now, leaving, ping, exec) => {
  expect(isExcused(now, { leaving, probed: 'ping' })).toBe(ping);
  expect(isExcused(now, { leaving, probed: 'exec' })).toBe(exec);
});
