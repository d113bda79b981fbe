import { expect, test } from '@jest/globals';
import { shutdownDomain } from '../../../../activities/node/domain-commands.ts';
import type { Launcher } from '../../../../activities/node/launcher-client/client.ts';
import type { NodePorts } from '../../../../activities/node/ports.ts';
import type { DomainReport } from '../../../../api/launcher/reports.ts';

const vmi = { namespace: 'n', name: 'v', uid: 'i1' };
const pod = { name: 'p', uid: 'p1', node: 'n1' };
const report = (n: number, state: DomainReport['state']): DomainReport => ({
  ...{ vmi, podUid: pod.uid, node: pod.node, sequence: { epoch: 1, n }, at: '2026-01-01T00:00:00Z', state },
  ...(state === 'shutoff' ? { end: 'acpiShutdown' as const } : {}),
  agent: { connected: false },
});

/** A node whose launcher says all this after it was told to shut its guest down. */
const node = (...said: DomainReport[]) => {
  const awaited: NodePorts['awaited'] = new Map();
  const launcher = {
    handshake: { protocol: 1, release: '', ...vmi, vmiUid: vmi.uid, podUid: pod.uid, launcherEpoch: 1 },
    shutdownVMI: () => Promise.resolve(report(2, 'shuttingDown')),
    getDomain: () => Promise.resolve(said.at(-1) ?? report(2, 'shuttingDown')),
    watchEvents: async function* () {
      for (const one of said) yield await Promise.resolve(one);
      if (said.length === 0) throw new Error('the connection is lost');
    },
    close: () => undefined,
  } as Partial<Launcher> as Launcher;
  const ports = {
    ...{ node: pod.node, pods: '/nowhere', awaited },
    kube: { get: () => Promise.resolve(undefined) } as Partial<NodePorts['kube']> as NodePorts['kube'],
    launchers: { connect: () => Promise.resolve(launcher) },
    processes: { ofPod: () => Promise.resolve([]) } as Partial<NodePorts['processes']> as NodePorts['processes'],
    mounts: { below: () => Promise.resolve([]) } as Partial<NodePorts['mounts']> as NodePorts['mounts'],
  } as Partial<NodePorts> as NodePorts;
  return { awaited, shutdown: () => shutdownDomain(ports)({ vmi, pod, deadline: '2026-01-01T00:00:30Z' }) };
};

test('a guest that stops at once is waited for, and so is the proof; who follows the launcher knows meanwhile', async () => {
  const { awaited, shutdown } = node(report(2, 'shuttingDown'), report(3, 'shutoff'));
  const answer = shutdown();
  expect(await awaited.get(pod.uid)).toMatchObject({ state: 'shutoff' });
  expect(await answer).toMatchObject({ state: 'shutoff', end: 'acpiShutdown', gone: { by: 'nodeWorker' } });
  expect(awaited.size).toBe(0);
});

test.each([
  ['the launcher is lost', []],
  ['the events end', [report(2, 'shuttingDown')]],
])('a guest is not waited for any longer once %s', async (_, said) => {
  const answer = await node(...said).shutdown();
  expect(answer).toMatchObject({ state: 'shuttingDown' });
  expect(answer.gone).toBeUndefined();
});
