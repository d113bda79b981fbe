import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import { evacuationId } from '../../../api/contract/refs.ts';
import type { Node } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstanceMigration } from '../../../api/kubevirt/types.ts';
import { until } from '../../support/until.ts';
import { getObject, kubectl, kubectlError, listObjects, virtflow } from '../support/kubectl.ts';
import { deleteMigrations, untilSettled } from '../support/migrations.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { otherNode } from '../support/nodes.ts';
import { Recorder } from '../support/recorder.ts';
import { switchovers } from '../support/readings.ts';
import { NAMESPACE, condition, createVm, deleteVm, getVmi, untilObject, untilReady } from '../support/vms.ts';
import { workflowSize } from '../support/workflows.ts';

jest.setTimeout(300_000);

const NAME = 'drained';
const nodeOf = async (): Promise<string> => (await getVmi(NAME))?.status?.nodeName ?? '';
const evacuating = async (): Promise<string | undefined> => (await getVmi(NAME))?.status?.evacuationNodeName;
const migrations = async (): Promise<VirtualMachineInstanceMigration[]> =>
  (await listObjects<VirtualMachineInstanceMigration>('vmim', NAMESPACE)).filter(({ spec }) => spec.vmiName === NAME);
const drainOf = (node: string, seconds: number): string[] => [
  ...['drain', node, `--pod-selector=vm.kubevirt.io/name=${NAME}`, `--timeout=${seconds}s`],
  ...['--ignore-daemonsets', '--delete-emptydir-data', '--force'],
];
const uncordon = (...nodes: string[]): Promise<string> => kubectl(['uncordon', ...nodes]);
const untilMigrates = () =>
  until(
    'its target Pod waits for a node',
    async () => (await migrations()).some(({ status }) => status?.phase === 'Scheduling'),
    { timeoutMs: 60_000, everyMs: 500 },
  );
const untilEvacuated = async (node: string): Promise<void> => {
  const uid = (await getObject<Node>('node', node, ''))?.metadata?.uid ?? '';
  const id = evacuationId({ name: node, uid });
  await until('nobody is to leave the node any more', async () => !(await workflowSize(id)).isOpen, {
    ...{ timeoutMs: 60_000, everyMs: 500 },
  });
};

let recorder: Recorder;
beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await uncordon('node-a', 'node-b');
  await deleteMigrations();
  await deleteVm(NAME);
  await createVm(NAME, {
    ...{ network: true, counter: true },
    change: (spec) => {
      spec.evictionStrategy = 'LiveMigrate';
    },
  });
  await untilReady(NAME);
  await untilObject(
    'it can be migrated',
    () => getVmi(NAME),
    (vmi) => condition(vmi, 'LiveMigratable')?.status === 'True',
    60_000,
  );
  recorder = new Recorder(NAMESPACE, NAME, { mayMigrate: true });
});
afterAll(async () => {
  await uncordon('node-a', 'node-b');
  await recorder.stop();
  await deleteVm(NAME);
});

test('kubectl drain moves the VM to the other node, where its guest counts on', async () => {
  const from = await nodeOf();
  try {
    console.log(await kubectl(drainOf(from, 180)));
    await untilSettled(NAME);
    expect(await nodeOf()).toBe(otherNode(from));
    expect(await evacuating()).toBeUndefined();
    const [vmim, ...more] = await migrations();
    expect(more).toEqual([]);
    expect(vmim).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^kubevirt-evacuation-/) as unknown,
        annotations: { 'kubevirt.io/evacuationMigration': from },
      },
      spec: { priority: 'system-critical' },
      status: { phase: 'Succeeded' },
    });
    await untilEvacuated(from);
    const [moved, ...others] = switchovers(recorder.readings);
    expect(others).toEqual([]);
    console.log(`downtime as the observer saw it: ${moved?.gap} ms, ${moved?.missed} values missed`);
    expect(recorder.boots).toBe(1);
  } finally {
    await uncordon(from);
  }
});

describe('a node that cannot be emptied, because no other takes the VM', () => {
  let from = '';
  beforeAll(async () => {
    await deleteMigrations();
    from = await nodeOf();
    await kubectl(['cordon', otherNode(from)]);
  });

  test('keeps drain waiting, and diagnose says what for', async () => {
    expect(await kubectlError(drainOf(from, 15))).toContain('Eviction triggered evacuation of VMI');
    await untilMigrates();
    expect(await evacuating()).toBe(from);
    console.log(await virtflow(['diagnose', NAME, '-n', NAMESPACE]));
    const diagnosis = JSON.parse(await virtflow(['diagnose', NAME, '-n', NAMESPACE, '-o', 'json'])) as object;
    expect(diagnosis).toMatchObject({ evacuation: { state: 'ok' }, standsAt: { stage: 'Prepare', state: 'waiting' } });
  });

  test('need not be, once it is uncordoned: the migration that waits is cancelled, and the guest stays', async () => {
    await uncordon(from);
    await untilEvacuated(from);
    await until('its migration is gone', async () => (await migrations()).length === 0, { everyMs: 500 });
    expect(await evacuating()).toBeUndefined();
    await untilSettled(NAME);
    expect(await nodeOf()).toBe(from);
  });

  test('nor once evacuate/cancel was asked of the VM', async () => {
    await kubectlError(drainOf(from, 10));
    await untilMigrates();
    const resource = `virtualmachineinstances/${NAME}/evacuate/cancel`;
    const path = `/apis/subresources.kubevirt.io/v1/namespaces/${NAMESPACE}/${resource}`;
    await execa('kubectl', ['replace', '--raw', path, '-f', '-'], { input: '{}' });
    await until('its migration is gone', async () => (await migrations()).length === 0, { everyMs: 500 });
    await untilEvacuated(from);
    expect(await evacuating()).toBeUndefined();
    await untilSettled(NAME);
    expect(await nodeOf()).toBe(from);
    expect(recorder.boots).toBe(1);
  });
});
