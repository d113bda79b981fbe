import { expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import fc from 'fast-check';
import { KubeError } from '../../../../../activities/kube/port.ts';
import { guestPath } from '../../../../../api/contract/guest-access.ts';
import type { DomainReport } from '../../../../../api/launcher/reports.ts';
import { toFilesystems, toGuestInfo, toUsers } from '../../../../../workers/node/guest-access/agent-answers.ts';
import { obstacleOf } from '../../../../../workers/node/guest-access/guest.ts';
import { Refusal, toRefusal } from '../../../../../workers/node/guest-access/refusal.ts';
import { readCall, readStream } from '../../../../../workers/node/guest-access/request.ts';
import { goDuration, thawAfterSeconds } from '../../../../../workers/node/guest-access/thaw-time.ts';

const guest = { namespace: 'ns', name: 'vm.a', vmiUid: 'vmi-1', pod: 'virt-launcher-vm', podUid: 'pod-1', node: 'a' };

test('what the controller asks is what the node worker understands', () => {
  const url = guestPath(guest, 'portforward', { port: '22', protocol: 'tcp', podUid: 'not this' });
  expect(readStream({ url })).toMatchObject({
    what: 'portforward',
    vmi: { namespace: 'ns', name: 'vm.a', uid: 'vmi-1' },
    pod: { name: 'virt-launcher-vm', uid: 'pod-1' },
    params: { port: '22', protocol: 'tcp' },
  });
  expect(readCall({ url: guestPath(guest, 'pause'), method: 'PUT' })).toMatchObject({ what: 'pause' });
});

test.each<{ url: string; method: string; status: number }>`
  url                                                 | method   | status
  ${guestPath(guest, 'pause')}                        | ${'GET'} | ${405}
  ${guestPath(guest, 'userlist')}                     | ${'PUT'} | ${405}
  ${guestPath(guest, 'console')}                      | ${'GET'} | ${404}
  ${guestPath(guest, 'toString' as 'pause')}          | ${'GET'} | ${405}
  ${'/pause'}                                         | ${'PUT'} | ${400}
  ${'//'}                                             | ${'PUT'} | ${400}
  ${guestPath({ ...guest, podUid: '../x' }, 'pause')} | ${'PUT'} | ${400}
  ${guestPath({ ...guest, pod: 'a/b' }, 'pause')}     | ${'PUT'} | ${400}
`('$method $url is refused with $status', ({ url, method, status }) => {
  expect(() => readCall({ url, method })).toThrow(expect.objectContaining({ status }));
});

test('whatever else is asked is refused in order, and names and uids never hold more than names and uids do', () => {
  const value = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('pod-1', 'ns', '../../etc', 'a/b', 'a%2fb', '\0'),
  );
  const query = fc.record({ namespace: value, name: value, vmiUid: value, pod: value, podUid: value });
  const path = fc.oneof(fc.string(), fc.webPath(), fc.constantFrom('/console', '/pause', '/vnc', '//'));
  const url = fc.oneof(
    fc.string(),
    fc.tuple(path, query).map(([start, fields]) => `${start}?${new URLSearchParams(fields).toString()}`),
  );
  const safe = /^[A-Za-z0-9.-]+$/;
  fc.assert(
    fc.property(url, fc.constantFrom('GET', 'PUT', 'POST'), (asked, method) => {
      for (const read of [() => readCall({ url: asked, method }), () => readStream({ url: asked })]) {
        try {
          const { vmi, pod } = read();
          for (const part of [vmi.namespace, vmi.name, vmi.uid, pod.name, pod.uid]) expect(part).toMatch(safe);
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal);
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['0', 0],
  ['5m0s', 300],
  ['1h30m', 5_400],
  ['1.5s', 1.5],
  ['100ms', 0.1],
  ['', undefined],
  ['5', undefined],
  ['-5m', undefined],
  ['soon', undefined],
])('the duration %j is %j seconds', (text, seconds) => {
  expect(goDuration(text)).toEqual(seconds);
});

test('a freeze without a time thaws as the launcher likes, with none at all never', () => {
  expect([undefined, null, {}, { unfreezeTimeout: '10s' }, { unfreezeTimeout: '0s' }].map(thawAfterSeconds)).toEqual([
    0, 0, 0, 10, -1,
  ]);
  for (const body of [{ unfreezeTimeout: 'x' }, { unfreezeTimeout: 5 }, 'x', []]) {
    expect(() => thawAfterSeconds(body)).toThrow(Refusal);
  }
});

test.each<Pick<DomainReport, 'state' | 'end'> & { then: RegExp | undefined }>`
  state             | end           | then
  ${'running'}      | ${undefined}  | ${undefined}
  ${'paused'}       | ${undefined}  | ${undefined}
  ${'shuttingDown'} | ${undefined}  | ${undefined}
  ${'incoming'}     | ${undefined}  | ${/on its way/}
  ${'starting'}     | ${undefined}  | ${/does not run/}
  ${'none'}         | ${undefined}  | ${/does not run/}
  ${'shutoff'}      | ${'migrated'} | ${/moved/}
  ${'shutoff'}      | ${'killed'}   | ${/has ended/}
  ${'crashed'}      | ${undefined}  | ${/does not run/}
`('a guest that is $state, end $end, is reached: $then', ({ state, end, then }) => {
  const obstacle = obstacleOf({ state, ...(end && { end }) });
  if (then === undefined) expect(obstacle).toBeUndefined();
  else expect(obstacle).toMatch(then);
});

test.each<[string, Error, number]>([
  ['a state that forbids it', ApplicationFailure.create({ type: 'StaleToken', message: 'm' }), 409],
  ['an old launcher', ApplicationFailure.create({ type: 'LauncherTooOld', message: 'm' }), 501],
  ['a silent launcher', ApplicationFailure.create({ type: 'LauncherUnreachable', message: 'm' }), 503],
  ['an API server that fails', new KubeError(500, 'x', 'm'), 503],
  ['a refusal', new Refusal(418, 'm'), 418],
  ['a surprise', new Error('m'), 500],
])('%s is told with its code', (_, error, status) => {
  expect(toRefusal(error)).toMatchObject({ status, message: expect.stringContaining('m') });
});

test('answers of the agent become objects of KubeVirt, without what is no answer', () => {
  expect(
    toUsers([{ user: 'root', 'login-time': 12.5 }, { user: 'a', domain: 'D', 'login-time': 'x' }, { user: 1 }, null]),
  ).toEqual([
    { userName: 'root', loginTime: 12.5 },
    { userName: 'a', domain: 'D' },
  ]);
  expect(toUsers('nonsense')).toEqual([]);
  expect(
    toFilesystems([
      {
        name: 'vda',
        mountpoint: '/',
        type: 'ext4',
        'used-bytes': 1,
        'total-bytes': 2,
        disk: [{ 'bus-type': 'virtio', serial: 's' }],
      },
      { name: 'vdb', mountpoint: '/b', type: 'xfs' },
      { mountpoint: '/c' },
    ]),
  ).toEqual([
    {
      diskName: 'vda',
      mountPoint: '/',
      fileSystemType: 'ext4',
      usedBytes: 1,
      totalBytes: 2,
      disk: [{ busType: 'virtio', serial: 's' }],
    },
    { diskName: 'vdb', mountPoint: '/b', fileSystemType: 'xfs', usedBytes: 0, totalBytes: 0, disk: [] },
  ]);
  expect(
    toGuestInfo(
      {
        connected: true,
        version: '7',
        hostname: 'h',
        timezone: 'UTC, 0',
        os: { id: 'debian' },
        supportedCommands: 'x',
      },
      undefined,
      undefined,
    ),
  ).toEqual({
    guestAgentVersion: '7',
    hostname: 'h',
    timezone: 'UTC, 0',
    os: { id: 'debian' },
    userList: [],
    fsInfo: { disks: [] },
  });
});
