import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import { parse, stringify } from 'yaml';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { until } from '../../support/until.ts';
import { isAgentConnected, untilInstance } from '../support/instances.ts';
import { apply, getObject, kubectl, kubectlError } from '../support/kubectl.ts';
import { killProcess, startProcess } from '../support/local-cluster.ts';
import { emptyNamespace, ensureNamespace } from '../support/namespaces.ts';
import { launcherPod, SYSTEM_NAMESPACE, systemPods, untilSystemReady } from '../support/pods.ts';
import { guestSpec } from '../support/vms.ts';

jest.setTimeout(300_000);

const NAMESPACE = 'virtflow-admission';

const object = (kind: string, name: string, spec: object): object => ({
  ...{ apiVersion: 'kubevirt.io/v1', kind, metadata: { name, namespace: NAMESPACE }, spec },
});
const vm = (name: string, spec: object): object => object('VirtualMachine', name, spec);
const vmi = (name: string, spec: object): object => object('VirtualMachineInstance', name, spec);

const refusal = (given: object): Promise<string> => kubectlError(['create', '-f', '-'], stringify(given));

/** As the API server would store it. */
const tried = async <T>(given: object): Promise<T> =>
  parse(await kubectl(['create', '--dry-run=server', '-o', 'yaml', '-f', '-'], stringify(given))) as T;

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await untilSystemReady();
  await emptyNamespace(NAMESPACE);
});
afterAll(async () => void (await emptyNamespace(NAMESPACE)));

describe('kubectl tells of a manifest that cannot work', () => {
  test('every field that is wrong, with what to do', async () => {
    const spec = guestSpec({ gracePeriodSeconds: -5 });
    spec.domain.devices.disks = [
      { name: 'lost', disk: { bus: 'virtio' } },
      { name: 'lost', disk: { bus: 'floppy' } },
    ];
    spec.volumes = [{ name: 'seed', cloudInitNoCloud: { userDataBase64: 'not base64!' } }];
    const text = await refusal(vmi('wrong', spec));
    expect(text).toContain('The VirtualMachineInstance "wrong" is invalid');
    for (const field of [
      'spec.terminationGracePeriodSeconds: -5 is negative',
      'spec.domain.devices.disks[1].name',
      'spec.domain.devices.disks[0].name: no volume is named "lost": add it to spec.volumes',
      'spec.volumes[0].cloudInitNoCloud.userDataBase64',
    ])
      expect(text).toContain(field);
  });

  test.each([
    ['VirtualMachineInstance', { domain: { devices: {} } }, ['spec.domain.memory.guest', '512Mi']],
    ['VirtualMachineInstance', { domain: { devices: {}, cpu: 'many' } }, ['spec.domain.cpu', 'expected object']],
    ['VirtualMachineInstance', {}, ['spec.domain']],
    ['VirtualMachine', { runStrategy: 'Always' }, ['spec.template']],
    [
      'VirtualMachine',
      { runStrategy: 'Sometimes', template: { spec: { domain: { devices: { disks: [{ name: 'x' }] } } } } },
      ['spec.runStrategy: "Sometimes" is unknown', 'spec.template.spec.domain.devices.disks[0].name'],
    ],
    ['VirtualMachineInstanceMigration', { vmiName: 'nobody' }, ['spec.vmiName: there is no VMI "nobody"']],
    ['VirtualMachineInstanceMigration', {}, ['spec.vmiName: say which VMI moves']],
  ])('a %s of %j', async (kind, spec, says) => {
    const text = await refusal(object(kind, 'wrong', spec));
    for (const part of says) expect(text).toContain(part);
  });

  test('that virtflow cannot run something yet, and takes it', async () => {
    const spec = guestSpec();
    spec.domain.devices.clientPassthrough = {};
    const result = await kubectlWarnings(vm('later', { runStrategy: 'Halted', template: { spec } }));
    expect(result).toContain('Warning: spec.template.spec.domain.devices.clientPassthrough: not supported yet');
  });
});

test('what a manifest leaves out is filled in as KubeVirt does', async () => {
  const stored = await tried<VirtualMachineInstance>(
    vmi('plain', { domain: { devices: {}, memory: { guest: '64Mi' } } }),
  );
  expect(stored).toMatchObject({
    metadata: { finalizers: ['kubevirt.io/foregroundDeleteVirtualMachine'] },
    spec: {
      architecture: 'amd64',
      domain: { machine: { type: 'q35' }, cpu: { sockets: 1, cores: 1, threads: 1, model: 'host-model' } },
      networks: [{ name: 'default', pod: {} }],
    },
    status: { phase: 'Pending' },
  });
  const machine = await tried<VirtualMachine>(vm('plain', { runStrategy: 'Halted', template: { spec: guestSpec() } }));
  expect(machine.spec.template.spec?.domain.firmware?.uuid).toMatch(/^[0-9a-f-]{36}$/);
});

test('a VMI’s spec and status are not a user’s to change', async () => {
  await apply(vmi('fixed', { ...guestSpec(), nodeSelector: { 'virtflow.io/nowhere': 'here' } }));
  const patch = (change: object): string[] => [
    ...['patch', 'vmi', 'fixed', '-n', NAMESPACE, '--type=merge', '-p', JSON.stringify(change)],
  ];
  expect(await kubectlError(patch({ spec: { terminationGracePeriodSeconds: 1 } }))).toContain(
    'spec: the spec of a VMI stands',
  );
  await kubectl(patch({ status: { phase: 'Succeeded' } }));
  const read = await getObject<VirtualMachineInstance>('vmi', 'fixed', NAMESPACE);
  expect(read?.status?.phase).not.toBe('Succeeded');
  await kubectl(['delete', 'vmi', 'fixed', '-n', NAMESPACE, '--wait', '--timeout=60s']);
});

test('the eviction of a launcher Pod asks that its VMI leaves the node', async () => {
  await apply(vmi('evicted', { ...guestSpec({ network: true }), evictionStrategy: 'LiveMigrate' }));
  const isMigratable = (found: VirtualMachineInstance): boolean =>
    isAgentConnected(found) &&
    found.status?.conditions?.find(({ type }) => type === 'LiveMigratable')?.status === 'True';
  const { metadata } = await untilInstance('migratable', NAMESPACE, 'evicted', isMigratable);
  const pod = await launcherPod(metadata?.uid ?? '', NAMESPACE);
  const name = pod.metadata?.name ?? '';
  const eviction = (dryRun: object): string =>
    JSON.stringify({
      ...{ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: NAMESPACE } },
      deleteOptions: dryRun,
    });
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/${name}/eviction`;
  const evict = (dryRun: object): Promise<string> =>
    kubectlError(['create', '--raw', path, '-f', '-'], eviction(dryRun));
  const says = `Eviction triggered evacuation of VMI "${NAMESPACE}/evicted"`;
  const evacuating = async (): Promise<string | undefined> =>
    (await getObject<VirtualMachineInstance>('vmi', 'evicted', NAMESPACE))?.status?.evacuationNodeName;

  expect(await evict({ dryRun: ['All'] })).toContain(says);
  expect(await evacuating()).toBeUndefined();
  expect(await evict({})).toContain(says);
  await kubectl(['delete', 'vmi', 'evicted', '-n', NAMESPACE, '--wait', '--timeout=120s']);
});

test('with Temporal down manifests are judged, taken, changed and deleted as ever', async () => {
  await killProcess('temporal');
  try {
    expect(await refusal(vm('bad', { runStrategy: 'Sometimes', template: { spec: guestSpec() } }))).toContain(
      'spec.runStrategy',
    );
    await apply(vm('good', { runStrategy: 'Halted', template: { spec: guestSpec() } }));
    await kubectl(['patch', 'vm', 'good', '-n', NAMESPACE, '--type=merge', '-p', '{"spec":{"runStrategy":"Manual"}}']);
    // Deleted before any workflow knew of it, with the finalizer that admission gave it.
    await apply(vmi('brief', guestSpec()));
    await kubectl(['delete', 'vmi', 'brief', '-n', NAMESPACE, '--wait=false']);
    expect((await systemPods('controller')).flatMap(({ status }) => status?.conditions ?? [])).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    );
  } finally {
    await startProcess('temporal');
  }
  await kubectl(['delete', 'vm', 'good', '-n', NAMESPACE, '--wait', '--timeout=120s']);
  await kubectl(['wait', '--for=delete', 'vmi/brief', '-n', NAMESPACE, '--timeout=120s']);
});

test('while the controller is rolled out anew nobody is refused', async () => {
  const given = stringify(vm('asked', { runStrategy: 'Halted', template: { spec: guestSpec() } }));
  const failures: string[] = [];
  let [asked, isOver] = [0, false];
  const ask = async (): Promise<void> => {
    while (!isOver) {
      const failure = await kubectlError(['create', '--dry-run=server', '-f', '-'], given);
      asked += 1;
      if (failure !== '') failures.push(failure);
    }
  };
  const asking = Promise.all([ask(), ask()]);
  const deployment = 'deployment/virtflow-controller';
  await kubectl(['rollout', 'restart', deployment, '-n', SYSTEM_NAMESPACE]);
  await kubectl(['rollout', 'status', deployment, '-n', SYSTEM_NAMESPACE, '--timeout=180s']);
  await until('the former one is gone', async () => (await systemPods('controller')).length === 1, {
    timeoutMs: 90_000,
    everyMs: 500,
  });
  isOver = true;
  await asking;
  expect(failures).toEqual([]);
  expect(asked).toBeGreaterThan(10);
});

test('another certificate authority holds without a restart of anything', async () => {
  const caBundles = async (): Promise<string[]> => {
    const kinds = 'mutatingwebhookconfiguration,validatingwebhookconfiguration';
    const text = await kubectl([
      'get',
      kinds,
      'virtflow',
      '-o',
      'jsonpath={.items[*].webhooks[*].clientConfig.caBundle}',
    ]);
    return [...new Set(text.split(' '))];
  };
  const controllers = async (): Promise<unknown> =>
    (await systemPods('controller')).map(({ metadata, status }) => [
      metadata?.uid,
      status?.containerStatuses?.[0]?.restartCount,
    ]);
  const [before, pods] = [await caBundles(), await controllers()];
  expect(before).toHaveLength(1);
  // An administrator's word that nothing signed so far is trusted.
  const none = JSON.stringify({ stringData: { 'authorities.json': '[]' } });
  await kubectl(['patch', 'secret', 'virtflow-ca', '-n', SYSTEM_NAMESPACE, '-p', none]);
  await until('the API server is told', async () => (await caBundles())[0] !== before[0], {
    timeoutMs: 90_000,
    everyMs: 500,
  });
  const isAsked = async (): Promise<boolean> =>
    (await refusal(vm('bad', { runStrategy: 'Sometimes', template: { spec: guestSpec() } }))).includes(
      '"Sometimes" is unknown',
    );
  await until('admission answers', isAsked, { timeoutMs: 30_000, everyMs: 500 });
  expect(await controllers()).toEqual(pods);
});

/** What kubectl writes beside a success. */
async function kubectlWarnings(given: object): Promise<string> {
  const { stderr } = await execa('kubectl', ['create', '--dry-run=server', '-f', '-'], { input: stringify(given) });
  return stderr;
}
