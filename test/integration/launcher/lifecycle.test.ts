import { afterEach, expect, jest, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';
import { LAUNCHER_PROTOCOL } from '../../../api/launcher/host-facts.ts';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { until } from '../../support/until.ts';
import { agentConnected, disposeAll, qemu, reportWhere, startPod, syncRequest } from './support.ts';

jest.setTimeout(180_000);
afterEach(disposeAll);

const MIB = 1024;
const residentKiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

test('a VMI boots, its agent tells of the guest, DHCP serves it, and it shuts down by its agent: exit code 0', async () => {
  const { pod, client } = await startPod({ network: true });
  const { reports } = client.watch();
  expect(await client.call('Handshake', { protocol: 1 })).toMatchObject({
    protocol: LAUNCHER_PROTOCOL,
    podUid: pod.uid,
    launcherEpoch: 1,
  });

  const started = await client.report('SyncVMI', syncRequest(pod, { network: true }));
  expect(started).toMatchObject({ state: 'running', tokenEpoch: 1, vmi: pod.vmi, podUid: pod.uid });

  const known = await reportWhere(
    reports,
    'the guest has the address and the name that DHCP gives it',
    ({ agent }) =>
      agent.hostname === pod.vmi.name &&
      (agent.interfaces ?? []).some(({ addresses }) => addresses.includes('10.0.2.2')),
  );
  expect(known.agent).toMatchObject({ connected: true, os: { id: expect.any(String) } });
  expect(await client.call('GuestPing')).toEqual({ json: '{}' });

  // KubeVirt's launcher takes more than 100 MiB; ours must leave that to the guest.
  const [launcher] = pod.processes('main.ts');
  expect(residentKiB(launcher ?? 0)).toBeLessThan(90 * MIB);

  const deadline = Date.now() + 60_000;
  expect(await client.report('ShutdownVMI', { deadlineMs: deadline })).toMatchObject({
    state: 'shuttingDown',
    deadline: new Date(deadline).toISOString(),
  });
  const ended = await reportWhere(reports, 'the end', ({ end }) => end !== undefined);
  expect(ended).toMatchObject({ state: 'shutoff', end: 'agentShutdown', agent: { connected: false } });
  expect(await pod.exited).toBe(0);
  expect(pod.lastReport).toEqual(ended);
});

test('reports are numbered, the newest comes first, and a reader resumes where it stopped', async () => {
  const { pod, client } = await startPod();
  await client.report('SyncVMI', syncRequest(pod));
  const first = client.watch();
  const running = await reportWhere(first.reports, 'running', ({ state }) => state === 'running');
  expect(first.reports[0]?.state).toBe('running');
  first.stop();

  const resumed = client.watch(running.sequence);
  expect(await client.report('PauseVMI')).toMatchObject({ state: 'paused', reason: 'paused: by request' });
  await reportWhere(resumed.reports, 'paused', ({ state }) => state === 'paused');
  expect(resumed.reports[0]?.sequence.n).toBeGreaterThan(running.sequence.n);
  expect(await client.report('UnpauseVMI')).toMatchObject({ state: 'running' });
  const numbers = resumed.reports.map(({ sequence }) => sequence.n);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));

  expect(await client.refusal('DeleteVMI')).toMatchObject({ code: status.FAILED_PRECONDITION });
  expect(await client.report('KillVMI')).toMatchObject({ state: 'shutoff', end: 'killed' });
  expect(qemu(pod)).toEqual([]);
  expect(await pod.exited).toBe(0);
});

test('requests that cannot be carried out are refused by kind, and nothing else is disturbed', async () => {
  const { pod, client } = await startPod();
  const refused = async (method: string, request: object = {}): Promise<unknown> => {
    const error = await client.refusal(method, request);
    return error && [error.code, error.details];
  };
  expect(await refused('GetDomain', { vmiUid: 'another' })).toEqual([
    status.INVALID_ARGUMENT,
    expect.stringContaining(pod.vmi.uid),
  ]);
  expect(await refused('SyncVMI', { ...syncRequest(pod), vmiJson: '{' })).toEqual([
    status.INVALID_ARGUMENT,
    expect.stringContaining('vmi_json'),
  ]);
  const broken = { metadata: pod.vmi, spec: { domain: { devices: {}, memory: { guest: [] } } } };
  expect(await refused('SyncVMI', { ...syncRequest(pod), vmiJson: JSON.stringify(broken) })).toEqual([
    status.INVALID_ARGUMENT,
    expect.stringContaining('memory'),
  ]);
  expect(await refused('HotplugHostDevices')).toEqual([status.UNIMPLEMENTED, expect.stringContaining('not yet')]);
  expect(await refused('ShutdownVMI', { deadlineMs: NaN })).toEqual([
    status.INVALID_ARGUMENT,
    'deadline_ms: NaN is no time',
  ]);
  expect(await refused('GuestPing')).toEqual([status.FAILED_PRECONDITION, 'the guest agent is not connected']);

  expect(await client.report('SyncVMI', syncRequest(pod, { epoch: 4 }))).toMatchObject({
    state: 'running',
    tokenEpoch: 4,
  });
  const [before] = qemu(pod);
  expect(await refused('SyncVMI', syncRequest(pod, { epoch: 3 }))).toEqual([
    status.FAILED_PRECONDITION,
    'run token epoch 3 is older than 4: somebody else took over',
  ]);
  expect(await client.report('SyncVMI', syncRequest(pod, { epoch: 4 }))).toMatchObject({ state: 'running' });
  expect(qemu(pod)).toEqual([before]);
});

test('a QEMU that dies is a crash: exit code 1, and no second start', async () => {
  const { pod, client } = await startPod();
  const { reports } = client.watch();
  await client.report('SyncVMI', syncRequest(pod));
  pod.kill('/usr/bin/qemu-system');
  const ended = await reportWhere(reports, 'the end', ({ end }) => end !== undefined);
  expect(ended).toMatchObject({ state: 'crashed', end: 'crashed' });
  expect(await pod.exited).toBe(1);
});

test('garbage on the command socket is refused and logged once', async () => {
  const { pod, client } = await startPod();
  for (const garbage of ['GET / HTTP/1.1\r\n\r\n', '\0\0\0\0', Buffer.alloc(100_000, 7)]) {
    const socket = connect(pod.commandSocket);
    socket.on('error', () => undefined);
    socket.write(garbage);
    await new Promise((resolve) => socket.once('close', resolve));
  }
  expect(await client.call('Handshake', { protocol: 1 })).toMatchObject({ vmiUid: pod.vmi.uid });
  await until('the log line', () => pod.output.includes('does not speak HTTP/2'));
  expect(pod.output.match(/does not speak HTTP\/2/g)).toHaveLength(1);
});

test('a Pod that is deleted before anything ran ends at once with exit code 0', async () => {
  const { pod } = await startPod();
  const before = Date.now();
  pod.terminate();
  expect(await pod.exited).toBe(0);
  expect(Date.now() - before).toBeLessThan(10_000);
});

test('a Pod that is deleted has its guest shut down cleanly, with nobody else there', async () => {
  const { pod, client } = await startPod({ gracePeriodSeconds: 60 });
  const watch = client.watch();
  await client.report('SyncVMI', syncRequest(pod));
  await agentConnected(watch.reports);
  watch.stop();
  pod.terminate();
  expect(await pod.exited).toBe(0);
  expect(pod.lastReport).toMatchObject({ state: 'shutoff', end: 'agentShutdown' });
});
