import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { createContext } from '../../../deploy/local/context.ts';
import { runInGuest } from '../../../deploy/local/guest/exec.ts';
import { until } from '../../support/until.ts';
import { applyInstance, isAgentConnected, untilInstance } from '../support/instances.ts';
import { getObject, kubectl, listObjects } from '../support/kubectl.ts';
import { emptyNamespace, ensureNamespace } from '../support/namespaces.ts';
import { launcherPod } from '../support/pods.ts';
import { condition, createClaim, guestSpec } from '../support/vms.ts';
import { watchObject } from '../support/watch.ts';

jest.setTimeout(300_000);

const NAMESPACE = 'virtflow-status';
const NAME = 'told';
const ctx = createContext();

const inGuest = (script: string): Promise<string> => runInGuest(ctx, { namespace: NAMESPACE, name: NAME }, script);
const vmi = async (): Promise<VirtualMachineInstance> => {
  const found = await getObject<VirtualMachineInstance>('vmi', NAME, NAMESPACE);
  if (found === undefined) throw new Error(`VMI ${NAME} is gone`);
  return found;
};
const isReady = (status: 'True' | 'False') => (object: VirtualMachineInstance) =>
  condition(object, 'Ready')?.status === status;
/** Reasons of what `kubectl describe` shows. */
const reasons = async (uid: string): Promise<string[]> =>
  (await listObjects<{ involvedObject: { uid: string }; reason: string }>('event', NAMESPACE))
    .filter(({ involvedObject }) => involvedObject.uid === uid)
    .map(({ reason }) => reason);

const spec = guestSpec({
  network: true,
  change: (change) => {
    change.readinessProbe = {
      exec: { command: ['test', '-e', '/run/is-ready'] },
      periodSeconds: 2,
      failureThreshold: 1,
    };
    change.livenessProbe = { guestAgentPing: {}, periodSeconds: 5, failureThreshold: 30, initialDelaySeconds: 60 };
    change.domain.devices.disks = [
      { name: 'data', disk: { bus: 'virtio' } },
      { name: 'seed', cdrom: { bus: 'sata' } },
    ];
    change.volumes = [
      { name: 'data', persistentVolumeClaim: { claimName: 'late' } },
      { name: 'seed', cloudInitNoCloud: { userData: '#cloud-config\n' } },
    ];
  },
});

let watch: ReturnType<typeof watchObject<VirtualMachineInstance>>;
beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await emptyNamespace(NAMESPACE);
  await kubectl(['delete', 'pvc', 'late', '-n', NAMESPACE, '--ignore-not-found', '--wait']);
  watch = watchObject<VirtualMachineInstance>('vmi', NAME, NAMESPACE);
  await applyInstance(NAMESPACE, NAME, spec);
});
afterAll(async () => {
  await watch.stop();
  await emptyNamespace(NAMESPACE);
});

test('while its claim is missing, it is told what it waits for, and goes on by itself', async () => {
  const waits = await untilInstance('it waits for its claim', NAMESPACE, NAME, (object) => {
    return condition(object, 'Synchronized')?.reason === 'FailedPvcNotFound';
  });
  expect(waits.status?.phase).toBe('Pending');
  expect(condition(waits, 'PodScheduled')).toMatchObject({ status: 'False', reason: 'Unschedulable' });
  expect(condition(waits, 'Ready')).toMatchObject({ status: 'False', reason: 'PodNotExists' });
  await createClaim('late', '16Mi', NAMESPACE, 'ReadWriteMany');
  const running = await untilInstance('its agent is there', NAMESPACE, NAME, isAgentConnected);
  expect(condition(running, 'Synchronized')).toBeUndefined();
  expect(condition(running, 'PodScheduled')).toBeUndefined();
});

test('a running instance tells everything of its guest', async () => {
  const addressed = ({ status }: VirtualMachineInstance): boolean =>
    status?.interfaces?.[0]?.infoSource === 'domain, guest-agent';
  const { metadata, status } = await untilInstance('its address is told', NAMESPACE, NAME, addressed);
  const pod = await launcherPod(metadata?.uid ?? '', NAMESPACE);
  const node = pod.spec?.nodeName ?? '';
  expect(status?.phaseTransitionTimestamps?.map(({ phase }) => phase)).toEqual([
    ...['Pending', 'Scheduling', 'Scheduled', 'Running'],
  ]);
  expect(metadata?.labels).toMatchObject({ 'kubevirt.io/nodeName': node });
  expect(status).toMatchObject({
    ...{ nodeName: node, activePods: { [pod.metadata?.uid ?? '']: node }, migrationTransport: 'Unix' },
    ...{ qosClass: pod.status?.qosClass, runtimeUser: 107, migrationMethod: 'LiveMigration' },
    launcherContainerImageVersion: pod.spec?.containers.find(({ name }) => name === 'compute')?.image,
    machine: { type: expect.stringMatching(/^pc-q35-/) },
    memory: { guestAtBoot: '128Mi', guestCurrent: '128Mi', guestRequested: '128Mi' },
    selinuxContext: expect.any(String),
    interfaces: [
      {
        ...{ name: 'default', podInterfaceName: 'eth0', interfaceName: 'eth0', linkState: 'up', queueCount: 1 },
        ...{ ipAddress: pod.status?.podIP, mac: expect.stringMatching(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/) },
      },
    ],
    volumeStatus: [
      {
        ...{ name: 'data', target: 'vda' },
        persistentVolumeClaimInfo: { claimName: 'late', accessModes: ['ReadWriteMany'], capacity: { storage: '16Mi' } },
      },
      { name: 'seed', target: 'sda', size: expect.any(Number) },
    ],
  });
  expect(condition({ spec, status: status ?? {} }, 'LiveMigratable')?.status).toBe('True');
});

test('it is ready when the probe of its user says so, and not for as long as it does not', async () => {
  expect(condition(await vmi(), 'Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' });
  await inGuest('touch /run/is-ready');
  await untilInstance('it is ready', NAMESPACE, NAME, isReady('True'), 60_000);
  const pod = await launcherPod((await vmi()).metadata?.uid ?? '', NAMESPACE);
  expect(pod.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
  await inGuest('rm /run/is-ready');
  await untilInstance('it is not ready any more', NAMESPACE, NAME, isReady('False'), 60_000);
});

test('from its creation until it runs it is written three times at most, phases in their order', () => {
  const passed = watch.seen.map(({ object }) => object.status?.phase ?? '');
  const known = ['', 'Pending', 'Scheduling', 'Scheduled', 'Running'];
  expect([...passed].sort((a, b) => known.indexOf(a) - known.indexOf(b))).toEqual(passed);
  // The wait for its claim is told in writes of its own.
  const starting = watch.seen.filter(({ object }) => ['Scheduling', 'Scheduled'].includes(object.status?.phase ?? ''));
  // The third is the one that says Running.
  expect(starting.length).toBeLessThanOrEqual(2);
});

test('what has happened is told as Events, its end at last', async () => {
  const uid = (await vmi()).metadata?.uid ?? '';
  await kubectl(['delete', 'vmi', NAME, '-n', NAMESPACE, '--wait']);
  const told = await until(
    'its end is told',
    async () => {
      const found = await reasons(uid);
      return found.includes('Stopped') ? found : undefined;
    },
    { timeoutMs: 30_000, everyMs: 500 },
  );
  expect([...new Set(told)].sort()).toEqual([
    ...['Created', 'FailedPvcNotFound', 'ShuttingDown', 'Started', 'Stopped', 'SuccessfulCreate', 'SuccessfulDelete'],
  ]);
  const last = watch.seen.findLast(({ type }) => type === 'MODIFIED')?.object;
  expect([last?.status?.phase, last?.status?.activePods ?? {}]).toEqual(['Succeeded', {}]);
});
