import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { KubeVirt } from '../../../api/kubevirt/types.ts';
import { until } from '../../support/until.ts';
import { applyInstance, isAgentConnected, untilInstance } from '../support/instances.ts';
import { getObject, kubectl, kubectlError } from '../support/kubectl.ts';
import { emptyNamespace, ensureNamespace } from '../support/namespaces.ts';
import { SYSTEM_NAMESPACE, systemPods, untilSystemReady } from '../support/pods.ts';
import { SHARED_DIRECTORY, guestSpec } from '../support/vms.ts';

jest.setTimeout(300_000);

const NAMESPACE = 'virtflow-last-good';
/** Of the right type, so that the API server takes it, and no number. */
const FIELD = 'spec.configuration.additionalGuestMemoryOverheadRatio';

const configure = (additionalGuestMemoryOverheadRatio: string | null): Promise<string> =>
  kubectl([
    ...['patch', 'kubevirt', 'kubevirt', '-n', SYSTEM_NAMESPACE, '--type=merge', '-p'],
    JSON.stringify({ spec: { configuration: { additionalGuestMemoryOverheadRatio } } }),
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
});
afterAll(async () => {
  await configure(null);
  await emptyNamespace(NAMESPACE);
});

test('a value of a wrong type is refused at once, by the name of its field', async () => {
  const patch = { spec: { configuration: { developerConfiguration: { featureGates: 'HostDisk' } } } };
  const refusal = await kubectlError([
    ...['patch', 'kubevirt', 'kubevirt', '-n', SYSTEM_NAMESPACE, '--type=merge', '-p', JSON.stringify(patch)],
  ]);
  expect(refusal).toContain('spec.configuration.developerConfiguration.featureGates');
});

test('a value that cannot be read is refused by the name of its field', async () => {
  await expect(configure('much')).rejects.toThrow(FIELD);
});

test('one that came past admission is told in the conditions of the KubeVirt object, with the field', async () => {
  // Nobody has to admit it: what is being installed may be configured before it serves.
  const controllers = (replicas: number) =>
    kubectl(['scale', 'deployment', 'virtflow-controller', '-n', SYSTEM_NAMESPACE, `--replicas=${replicas}`]);
  await controllers(0);
  await until('no controller worker is left', async () => (await systemPods('controller')).length === 0, {
    timeoutMs: 60_000,
  });
  await configure('much');
  await controllers(1);
  await untilSystemReady();
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
  await configure(null);
  await untilCondition('Degraded', 'False');
  await untilCondition('ConfigurationUnreadable', undefined);
});
