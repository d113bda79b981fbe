import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { KubeVirt } from '../../../api/kubevirt/types.ts';
import { until } from '../../support/until.ts';
import { applyInstance, isAgentConnected, untilInstance } from '../support/instances.ts';
import { getObject, kubectl } from '../support/kubectl.ts';
import { emptyNamespace, ensureNamespace } from '../support/namespaces.ts';
import { SYSTEM_NAMESPACE, systemPods, untilSystemReady } from '../support/pods.ts';
import { SHARED_DIRECTORY, guestSpec } from '../support/vms.ts';

jest.setTimeout(300_000);

const NAMESPACE = 'virtflow-last-good';
const FIELD = 'spec.configuration.developerConfiguration.featureGates';

let before: unknown;

const configure = (featureGates: unknown): Promise<string> =>
  kubectl([
    ...['patch', 'kubevirt', 'kubevirt', '-n', SYSTEM_NAMESPACE, '--type=merge', '-p'],
    JSON.stringify({ spec: { configuration: { developerConfiguration: { featureGates } } } }),
  ]);
const untilCondition = (type: string, status: string | undefined) =>
  until(
    `condition ${type} of the KubeVirt object is ${status ?? 'absent'}`,
    async () => {
      const kubevirt = await getObject<KubeVirt>('kubevirt', 'kubevirt', SYSTEM_NAMESPACE);
      const found = kubevirt?.status?.conditions?.find((one) => one.type === type);
      return found?.status === status ? { message: found?.message ?? '' } : undefined;
    },
    { everyMs: 500, timeoutMs: 30_000 },
  );

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await emptyNamespace(NAMESPACE);
  const kubevirt = await getObject<{ spec: { configuration: { developerConfiguration: { featureGates: unknown } } } }>(
    'kubevirt',
    'kubevirt',
    SYSTEM_NAMESPACE,
  );
  before = kubevirt?.spec.configuration.developerConfiguration.featureGates;
});
afterAll(async () => {
  await configure(before);
  await emptyNamespace(NAMESPACE);
});

test('a KubeVirt object that cannot be read says so in its conditions, with the field', async () => {
  await configure('HostDisk');
  for (const type of ['Degraded', 'ConfigurationUnreadable'])
    expect((await untilCondition(type, 'True')).message).toContain(FIELD);
});

test('meanwhile the last good configuration is in force, also for workers that start now', async () => {
  const [controller] = await systemPods('controller');
  await kubectl(['delete', 'pod', controller?.metadata?.name ?? '', '-n', SYSTEM_NAMESPACE, '--wait']);
  await untilSystemReady();
  // Boots without KVM (useEmulation), and its disk needs the feature gate.
  const spec = guestSpec({
    change: (changed) => {
      changed.domain.devices.disks = [{ name: 'host', disk: { bus: 'virtio' } }];
      const path = `${SHARED_DIRECTORY}/${NAMESPACE}/disk.img`;
      changed.volumes = [{ name: 'host', hostDisk: { path, type: 'DiskOrCreate', capacity: '16Mi' } }];
    },
  });
  await applyInstance(NAMESPACE, 'gated', spec);
  await untilInstance('ready', NAMESPACE, 'gated', isAgentConnected);
});

test('once it can be read again the conditions go', async () => {
  await configure(before);
  await untilCondition('Degraded', 'False');
  await untilCondition('ConfigurationUnreadable', undefined);
});
