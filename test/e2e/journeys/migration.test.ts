import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Pod } from '../../../api/kubernetes/types.ts';
import { migrationId } from '../../../api/contract/refs.ts';
import { createContext } from '../../../deploy/local/context.ts';
import { runInGuest } from '../../../deploy/local/guest/exec.ts';
import { TEST_GUEST } from '../../../deploy/local/images.ts';
import { until } from '../../support/until.ts';
import { inTemporalUi, scrollTo } from '../support/browser.ts';
import { lastOperation } from '../support/history.ts';
import { apply, getObject, kubectl, listObjects, virtflow } from '../support/kubectl.ts';
import { createMigration, deleteMigrations, untilOver, untilSettled } from '../support/migrations.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { onNode } from '../support/nodes.ts';
import { launcherPod } from '../support/pods.ts';
import { Recorder } from '../support/recorder.ts';
import { switchovers } from '../support/readings.ts';
import {
  NAMESPACE,
  condition,
  createClaim,
  createVm,
  deleteVm,
  getVmi,
  untilReady,
  untilStopped,
} from '../support/vms.ts';

jest.setTimeout(300_000);

const ctx = createContext();
const inGuest = async (name: string, script: string): Promise<string> =>
  (await runInGuest(ctx, { namespace: NAMESPACE, name }, script)).trim();
const nodeOf = async (name: string): Promise<string> => (await getVmi(name))?.status?.nodeName ?? '';

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await deleteMigrations();
});

describe('a VM with a shared claim and a Service', () => {
  const NAME = 'mover';
  let service = '';
  let recorder: Recorder;
  const targetPod = async () => (await getVmi(NAME))?.status?.migrationState?.targetPod;

  beforeAll(async () => {
    await deleteVm(NAME);
    await createClaim(NAME);
    await createVm(NAME, { claim: NAME, network: true, counter: true });
    await apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: NAME, namespace: NAMESPACE },
      spec: { selector: { 'vm.kubevirt.io/name': NAME }, ports: [{ port: 80, targetPort: 8080 }] },
    });
    const created = await getObject<{ spec: { clusterIP: string } }>('service', NAME, NAMESPACE);
    service = `http://${created?.spec.clusterIP}/`;
    await untilReady(NAME);
    recorder = new Recorder(NAMESPACE, NAME, { mayMigrate: true });
  });
  afterAll(async () => {
    await recorder.stop();
    await deleteVm(NAME);
  });

  test('says that it can be migrated', async () => {
    const vmi = await getVmi(NAME);
    expect(condition(vmi, 'LiveMigratable')).toMatchObject({ status: 'True' });
    expect(condition(vmi, 'StorageLiveMigratable')).toMatchObject({ status: 'True' });
  });

  test('virtflow migrate moves it to the other node, its guest counts on, and nothing is left behind', async () => {
    await inGuest(NAME, 'echo before >/data/marker && sync');
    const [from, pod] = [await nodeOf(NAME), await launcherPod((await getVmi(NAME))?.metadata?.uid ?? '')];
    const endpoints = watchEndpoints(NAME);
    try {
      console.log(await virtflow(['migrate', NAME, '-n', NAMESPACE]));
      await untilSettled(NAME);
      await until('the Service leads to the target', async () => endpoints.firstReady((await targetPod()) ?? ''));
    } finally {
      await endpoints.stop();
    }
    const vmi = await getVmi(NAME);
    expect(vmi?.status?.nodeName).not.toBe(from);
    expect(vmi?.metadata?.labels?.['kubevirt.io/nodeName']).toBe(vmi?.status?.nodeName);
    expect(vmi?.status?.migrationState).toMatchObject({
      ...{ sourceNode: from, sourcePod: pod.metadata?.name, targetNode: vmi?.status?.nodeName },
      ...{ completed: true, mode: 'PreCopy' },
    });
    expect(vmi?.status?.migrationState?.failed ?? false).toBe(false);
    const [moved, ...more] = switchovers(recorder.readings);
    expect(more).toEqual([]);
    console.log(`downtime as the observer saw it: ${moved?.gap} ms, ${moved?.missed} values missed`);
    expect(recorder.boots).toBe(1);
    const { migration } = (await lastOperation(NAME, 'migrate'))?.status ?? {};
    const routed = endpoints.firstReady((await targetPod()) ?? '') ?? 0;
    expect(routed).toBeGreaterThanOrEqual(Date.parse(migration?.targetRunsSince ?? ''));
  });

  test('ping, new connections and its Service work after as before, and what it wrote is there', async () => {
    expect(await inGuest(NAME, 'cat /data/marker')).toBe('before');
    const ip = (await launcherPod((await getVmi(NAME))?.metadata?.uid ?? '')).status?.podIP ?? '';
    for (const node of ['node-a', 'node-b']) {
      expect(await onNode(node, ['ping', '-c', '1', '-W', '5', ip])).toContain('1 received');
      expect(await onNode(node, ['curl', '-sS', '-m', '10', `http://${ip}:8080/`])).toContain('hostname');
    }
    await until(
      'the Service answers',
      () =>
        onNode('node-a', ['curl', '-sS', '-m', '5', service]).then(
          () => true,
          () => false,
        ),
      { timeoutMs: 30_000, everyMs: 500 },
    );
    expect(await inGuest(NAME, 'ping -c 1 -W 5 10.99.0.11')).toContain('1 packets received');
    expect(await inGuest(NAME, 'wget -qO- http://10.99.0.12:10256/healthz')).toContain('lastUpdated');
  });

  test('its history has the migration: phases, durations, bytes, downtime', async () => {
    const operation = await lastOperation(NAME, 'migrate');
    expect(operation).toMatchObject({ state: 'succeeded' });
    const { steps = [], migration } = operation?.status ?? {};
    expect(steps.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['PrepareMigrationTarget', 'MigrateVMI', 'FinalizeMigration']),
    );
    expect(migration?.phaseTimes.map(({ phase }) => phase)).toEqual([
      ...['Pending', 'Scheduling', 'Scheduled', 'PreparingTarget', 'TargetReady', 'Running', 'Succeeded'],
    ]);
    expect(migration?.numbers?.processedBytes).toBeGreaterThan(1_000_000);
    expect(migration?.numbers?.downtimeMs).toBeGreaterThan(0);
    const table = await virtflow(['history', NAME, '-n', NAMESPACE]);
    for (const word of ['migrate', 'PrepareMigrationTarget', 'MigrateVMI', 'FinalizeMigration']) {
      expect(table).toContain(word);
    }
  });

  test("Temporal's UI shows the three phases by name", async () => {
    const [last] = (await listObjects<Pod>('vmim', NAMESPACE)).slice(-1);
    const { name = '', uid = '' } = last?.metadata ?? {};
    const id = migrationId({ namespace: NAMESPACE, name, uid });
    const phases = ['• PrepareMigrationTarget', '• MigrateVMI', '• FinalizeMigration'];
    await inTemporalUi(id, 'temporal-ui-migration.png', (page) => scrollTo(page, phases));
  });

  test('migrates back by a VMIM of kubectl, and stops cleanly where it is', async () => {
    const from = await nodeOf(NAME);
    await createMigration('back', NAME);
    expect((await untilOver('back')).status?.phase).toBe('Succeeded');
    await untilSettled(NAME);
    expect(await nodeOf(NAME)).not.toBe(from);
    expect(await kubectl(['get', 'vmim', 'back', '-n', NAMESPACE])).toContain('Succeeded');
    expect(await recorder.stop()).toEqual([]);
    await virtflow(['stop', NAME, '-n', NAMESPACE, '--wait']);
    await untilStopped(NAME);
    expect((await lastOperation(NAME, 'shutdown'))?.status?.end).toBe('agentShutdown');
  });
});

describe('a VM with disks that its node alone has', () => {
  const NAME = 'copier';

  beforeAll(async () => {
    await deleteVm(NAME);
    await createVm(NAME, {
      network: true,
      change: (spec) => {
        const disk = (name: string) => ({ name, disk: { bus: 'virtio' } });
        spec.domain.devices.disks = [disk('root'), disk('scratch'), disk('cloud-init')];
        spec.volumes = [
          { name: 'root', containerDisk: { image: TEST_GUEST, imagePullPolicy: 'IfNotPresent' } },
          { name: 'scratch', emptyDisk: { capacity: '16Mi' } },
          { name: 'cloud-init', cloudInitNoCloud: { userData: '#cloud-config\nhostname: copied\n' } },
        ];
      },
    });
    await untilReady(NAME);
  });
  afterAll(() => deleteVm(NAME));

  test('container disk, emptyDisk and cloud-init are copied with it', async () => {
    await inGuest(NAME, 'dd if=/dev/urandom of=/data/written bs=64k count=16 && echo kept >/mnt/vdb/file && sync');
    const sum = await inGuest(NAME, 'md5sum </data/written');
    const from = await nodeOf(NAME);
    await createMigration('copy', NAME);
    expect((await untilOver('copy')).status?.phase).toBe('Succeeded');
    await untilSettled(NAME);
    expect(await nodeOf(NAME)).not.toBe(from);
    // What the guest still had in memory would hide a disk that is wrong.
    await inGuest(NAME, 'echo 3 >/proc/sys/vm/drop_caches');
    expect(await inGuest(NAME, 'md5sum </data/written')).toBe(sum);
    expect(await inGuest(NAME, 'cat /mnt/vdb/file')).toBe('kept');
    expect(await inGuest(NAME, 'cat /data/virtflow-container-disk')).toBe('This file came with the image.');
    await inGuest(NAME, 'echo again >/mnt/vdb/file && sync && dd if=/dev/vdc of=/dev/null bs=64k');
  });
});

interface EndpointSlice {
  endpoints?: { addresses: string[]; conditions?: { ready?: boolean }; targetRef?: { name?: string } }[];
}

/** Samples where a Service leads to: when each Pod was first among its ready endpoints, in ms. */
function watchEndpoints(service: string): {
  stop: () => Promise<void>;
  firstReady: (pod: string) => number | undefined;
} {
  const seen = new Map<string, number>();
  const selector = `kubernetes.io/service-name=${service}`;
  let stopped = false;
  const sample = async (): Promise<void> => {
    while (!stopped) {
      const asked = Date.now();
      const slices = await listObjects<EndpointSlice>('endpointslice', NAMESPACE, selector).catch(() => []);
      for (const { conditions, targetRef } of slices.flatMap(({ endpoints = [] }) => endpoints)) {
        const name = targetRef?.name ?? '';
        if (conditions?.ready === true && !seen.has(name)) seen.set(name, asked);
      }
      await pause(100);
    }
  };
  const running = sample();
  return {
    stop: async () => {
      stopped = true;
      await running;
    },
    firstReady: (pod) => seen.get(pod),
  };
}
