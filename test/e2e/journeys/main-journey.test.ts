import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { VmHistory } from '../../../cli/history/model.ts';
import { createContext } from '../../../deploy/local/context.ts';
import { runInGuest } from '../../../deploy/local/guest/exec.ts';
import { until } from '../../support/until.ts';
import { writesOfVirtflow, type Write } from '../support/audit.ts';
import { kubectl, virtflow } from '../support/kubectl.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { launcherPod } from '../support/pods.ts';
import { NAMESPACE, createClaim, createVm, deleteVm, getVm, getVmi, untilReady } from '../support/vms.ts';
import { watchObject } from '../support/watch.ts';

jest.setTimeout(400_000);

const NAME = 'journey';
const VM = { namespace: NAMESPACE, name: NAME };
const MARKER = `written-${Date.now()}`;

const inGuest = (script: string): Promise<string> => runInGuest(createContext(), VM, script);
const history = async (): Promise<VmHistory> =>
  JSON.parse(await virtflow(['history', NAME, '-n', NAMESPACE, '-o', 'json'])) as VmHistory;

/** Header and rows of kubectl's table, by column. */
const table = async (...args: string[]): Promise<Record<string, string>[]> => {
  const [header = '', ...rows] = (await kubectl(['get', ...args, '-n', NAMESPACE])).trim().split('\n');
  const columns = header.split(/ {2,}/);
  return rows.map((row) => {
    const cells = row.split(/ {2,}/);
    return Object.fromEntries(columns.map((column, index) => [column.trim(), cells[index]?.trim() ?? '']));
  });
};

describe('a VM with a claim, masquerade and guest agent', () => {
  const started = new Date();
  const instances = () => watchObject<VirtualMachineInstance>('vmi', NAME, NAMESPACE);
  let creation: ReturnType<typeof instances>;

  beforeAll(async () => {
    await ensureNamespace(NAMESPACE);
    await deleteVm(NAME);
    await createClaim(NAME);
    creation = instances();
    await createVm(NAME, { claim: NAME, network: true });
  });
  afterAll(async () => {
    await creation.stop();
    await deleteVm(NAME);
  });

  test('boots and its agent connects', async () => {
    const vmi = await untilReady(NAME);
    expect(vmi.status?.nodeName).toMatch(/^node-/);
    await until('VM ready', async () => (await table('vm', NAME))[0]?.['READY'] === 'True');
  });

  test('is started with at most 3 writes of its VMI after its creation and 10 of virtflow in all, none in conflict', async () => {
    await creation.stop();
    const phases = creation.seen.map(({ object }) => object.status?.phase);
    const { uid } = (await getVm(NAME))?.metadata ?? {};
    const ours = [`virt-launcher-${NAME}-`, `revision-start-vm-${uid}-`];
    const isOf = ({ name }: Write) => name === NAME || ours.some((start) => name.startsWith(start));
    const writes = (await writesOfVirtflow(NAMESPACE, started)).filter(isOf);
    const told = writes.map(({ verb, resource, status }) => `${verb} ${resource} ${status}`);
    // The agent connects when the start is long over: its writes come after the one that says Running, on VMI and VM.
    const vmiWrites = writes.flatMap(({ resource }, index) => (resource === 'virtualmachineinstances' ? [index] : []));
    const running = vmiWrites[phases.indexOf('Running')] ?? -1;
    const start =
      writes.findIndex(({ resource }, index) => index > running && resource === 'virtualmachines/status') + 1;
    console.log(
      `phases: ${phases.join(', ')}\nto Running: ${told.slice(0, start).join(', ')}\nthen: ${told.slice(start).join(', ')}`,
    );
    expect(phases.indexOf('Running')).toBeGreaterThan(0);
    expect(phases.indexOf('Running')).toBeLessThanOrEqual(3);
    expect(start).toBeGreaterThan(0);
    expect(start).toBeLessThanOrEqual(10);
    expect(told.filter((write) => write.endsWith('409'))).toEqual([]);
  });

  test('shows in printer columns, by short names', async () => {
    expect((await table('vm', NAME))[0]).toMatchObject({ NAME, STATUS: 'Running', READY: 'True' });
    const vmi = await getVmi(NAME);
    expect((await table('vmi', NAME))[0]).toMatchObject({
      NAME,
      PHASE: 'Running',
      IP: vmi?.status?.interfaces?.[0]?.ipAddress,
      NODENAME: vmi?.status?.nodeName,
      READY: 'True',
    });
    expect(vmi?.status?.interfaces?.[0]?.ipAddress).toMatch(/^10\.244\./);
    const definition = 'virtualmachineinstancemigrations.kubevirt.io';
    const columns = 'jsonpath={.spec.versions[0].additionalPrinterColumns[*].name}';
    expect((await kubectl(['get', 'crd', definition, '-o', columns])).split(' ').slice(0, 2)).toEqual(['Phase', 'VMI']);
    for (const names of ['vms', 'vmis', 'vmims', 'vm,vmi,vmim'])
      await kubectl(['get', names, '-n', NAMESPACE, '-o', 'name']);
  });

  test('virtflow status tells node, address, agent and token', async () => {
    const text = await virtflow(['status', NAME, '-n', NAMESPACE]);
    const vmi = await getVmi(NAME);
    const pod = await launcherPod(vmi?.metadata?.uid ?? '');
    for (const fact of ['Running', 'Always', vmi?.status?.nodeName ?? '', 'connected', pod.metadata?.name ?? ''])
      expect(text).toContain(fact);
  });

  test('virtflow restart gives a new instance with the same disk and never looks stopped', async () => {
    await inGuest(`echo ${MARKER} >/data/marker && sync`);
    const before = (await getVmi(NAME))?.metadata?.uid;
    const vm = watchObject<VirtualMachine>('vm', NAME, NAMESPACE);
    try {
      await virtflow(['restart', NAME, '-n', NAMESPACE, '--wait']);
      expect((await untilReady(NAME)).metadata?.uid).not.toBe(before);
      expect((await inGuest('cat /data/marker')).trim()).toBe(MARKER);
    } finally {
      await vm.stop();
    }
    const words = vm.seen.map(({ object }) => object.status?.printableStatus ?? '');
    console.log(`status during the restart: ${words.join(', ')}`);
    expect(words).toContain('Stopping');
    expect(words).toContain('Starting');
    expect(words).not.toContain('Stopped');
    expect(vm.seen.at(-1)?.object.status?.stateChangeRequests ?? []).toEqual([]);
  });

  test('virtflow stop shuts the guest down through its agent: the VMI ends as Succeeded', async () => {
    const watched = instances();
    try {
      await until('the watch began', () => watched.seen.length > 0);
      await virtflow(['stop', NAME, '-n', NAMESPACE, '--wait']);
    } finally {
      await watched.stop();
    }
    const phases = watched.seen.map(({ object }) => object.status?.phase);
    expect(phases.at(-1)).toBe('Succeeded');
    expect(watched.seen.at(-1)?.type).toBe('DELETED');
    expect((await table('vm', NAME))[0]).toMatchObject({ STATUS: 'Stopped', READY: 'False' });
    const last = (await history()).operations.at(-1);
    expect(last).toMatchObject({ operation: 'shutdown', state: 'succeeded', status: { end: 'agentShutdown' } });
  });

  test('virtflow start brings it back with what it wrote', async () => {
    await virtflow(['start', NAME, '-n', NAMESPACE, '--wait']);
    await untilReady(NAME);
    expect((await inGuest('cat /data/marker')).trim()).toBe(MARKER);
  });

  test('virtflow history has every operation with steps, durations and nodes', async () => {
    const { operations, horizonDays } = await history();
    const ours = operations.filter(({ startedAt }) => new Date(startedAt) >= started);
    expect(ours.map(({ operation }) => operation)).toEqual(['start', 'shutdown', 'start', 'shutdown', 'start']);
    expect(horizonDays).toBe(45);
    for (const { status, state, endedAt, link } of ours) {
      expect(state).toBe('succeeded');
      expect(endedAt).toBeDefined();
      expect(link).toContain('/namespaces/virtflow/workflows/');
      expect(status?.steps.length).toBeGreaterThan(1);
      expect(status?.steps.some(({ node }) => node?.startsWith('node-'))).toBe(true);
      for (const step of status?.steps ?? [])
        expect(Date.parse(step.endedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(step.startedAt));
    }
    const text = await virtflow(['history', NAME, '-n', NAMESPACE]);
    for (const word of ['SyncInstance', 'agentShutdown', 'operations', ' s ']) expect(text).toContain(word);
  });

  test('deleting the VM leaves nothing', async () => {
    await deleteVm(NAME);
    await until(
      'no object of the VM left',
      async () => {
        const text = await kubectl(['get', 'vm,vmi,pod,lease', '-n', NAMESPACE, '-o', 'name']);
        return !text.split('\n').some((name) => name.includes(NAME));
      },
      { timeoutMs: 60_000, everyMs: 500 },
    );
  });
});
