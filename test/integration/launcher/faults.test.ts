import { afterEach, expect, jest, test } from '@jest/globals';
import { LauncherClient } from '../../support/launcher-client.ts';
import { until } from '../../support/until.ts';
import { agentConnected, disposeAll, qemu, reportWhere, startPod, syncRequest } from './support.ts';

jest.setTimeout(180_000);
afterEach(disposeAll);

const LATE_MS = 2_000;

test('a guest that ignores every signal is destroyed at its deadline: never early, at most 2 s late', async () => {
  const { pod, client } = await startPod();
  const { reports } = client.watch();
  await client.report('SyncVMI', syncRequest(pod, { kernelArgs: 'ignore-shutdown' }));
  await agentConnected(reports);

  const later = Date.now() + 120_000;
  const deadline = Date.now() + 8_000;
  expect((await client.report('ShutdownVMI', { deadlineMs: later })).deadline).toBe(new Date(later).toISOString());
  expect((await client.report('ShutdownVMI', { deadlineMs: deadline })).deadline).toBe(
    new Date(deadline).toISOString(),
  );
  expect((await client.report('ShutdownVMI', { deadlineMs: later })).deadline).toBe(new Date(deadline).toISOString());

  await until('QEMU is gone', () => qemu(pod).length === 0, { timeoutMs: 30_000, everyMs: 50 });
  const overdue = Date.now() - deadline;
  expect(overdue).toBeGreaterThanOrEqual(0);
  expect(overdue).toBeLessThan(LATE_MS);
  expect(await reportWhere(reports, 'the end', ({ end }) => end !== undefined)).toMatchObject({
    state: 'shutoff',
    end: 'destroyedAtDeadline',
  });
  expect(await pod.exited).toBe(0);
});

test('the deadline holds although launcher and libvirtd are killed meanwhile', async () => {
  const { pod, client } = await startPod();
  const { reports } = client.watch();
  await client.report('SyncVMI', syncRequest(pod, { kernelArgs: 'ignore-shutdown' }));
  await agentConnected(reports);
  const deadline = Date.now() + 10_000;
  await client.report('ShutdownVMI', { deadlineMs: deadline });
  pod.kill('main.ts');
  pod.kill('/usr/sbin/libvirtd');
  await until('QEMU is gone', () => qemu(pod).length === 0, { timeoutMs: 30_000, everyMs: 50 });
  const overdue = Date.now() - deadline;
  expect(overdue).toBeGreaterThanOrEqual(0);
  expect(overdue).toBeLessThan(LATE_MS);
  expect(await pod.exited).toBe(0);
  expect(pod.lastReport).toMatchObject({ state: 'shutoff', end: 'destroyedAtDeadline', sequence: { epoch: 2 } });
});

test('a killed launcher comes back in a new epoch and takes the running guest over, agent included', async () => {
  const { pod, client } = await startPod();
  const before = client.watch();
  await client.report('SyncVMI', syncRequest(pod));
  await agentConnected(before.reports);
  const running = qemu(pod);

  pod.kill('main.ts');
  client.close();
  await until('the launcher is back', () => pod.output.includes('"epoch":2'), { timeoutMs: 20_000 });
  const again = new LauncherClient(pod.commandSocket, pod.vmi.uid);
  const { reports } = again.watch();
  expect((await agentConnected(reports)).sequence.epoch).toBe(2);
  expect(reports[0]).toMatchObject({ state: 'running', tokenEpoch: 1 });
  expect(qemu(pod)).toEqual(running);
  expect(await again.report('SyncVMI', syncRequest(pod))).toMatchObject({ state: 'running' });
  expect(qemu(pod)).toEqual(running);
  await again.report('ShutdownVMI', { deadlineMs: Date.now() + 60_000 });
  expect(await pod.exited).toBe(0);
  expect(pod.lastReport).toMatchObject({ end: 'agentShutdown' });
  again.close();
});

test('a killed libvirtd comes back and the guest runs on; it can still be stopped', async () => {
  const { pod, client } = await startPod();
  const { reports } = client.watch();
  await client.report('SyncVMI', syncRequest(pod));
  await agentConnected(reports);
  const running = qemu(pod);
  pod.kill('/usr/sbin/libvirtd');
  await until('libvirtd is back', () => pod.processes('/usr/sbin/libvirtd').length === 1);
  expect(await client.report('GetDomain')).toMatchObject({ state: 'running' });
  expect(qemu(pod)).toEqual(running);
  expect(await client.report('KillVMI')).toMatchObject({ state: 'shutoff', end: 'killed' });
  expect(await pod.exited).toBe(0);
});

test('a libvirtd that is killed in the middle of a clean shutdown does not make it a crash', async () => {
  const { pod, client } = await startPod();
  const { reports } = client.watch();
  await client.report('SyncVMI', syncRequest(pod));
  await agentConnected(reports);
  await client.report('ShutdownVMI', { deadlineMs: Date.now() + 60_000 });
  await until('libvirt tells that the guest goes down', () => pod.output.includes('"lifecycle":"shutdown"'), {
    everyMs: 1,
  });
  pod.kill('/usr/sbin/libvirtd');
  expect(await pod.exited).toBe(0);
  expect(pod.lastReport).toMatchObject({ state: 'shutoff' });
  // The call to the agent is lost with libvirtd: a guest that takes its time is asked by the power button as well.
  expect(['agentShutdown', 'acpiShutdown']).toContain(pod.lastReport?.end);
});
