import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { applyInstance, isAgentConnected, untilInstance } from '../support/instances.ts';
import { apply } from '../support/kubectl.ts';
import { emptyNamespace, ensureNamespace } from '../support/namespaces.ts';
import { SHARED_DIRECTORY, condition, guestSpec } from '../support/vms.ts';

jest.setTimeout(300_000);

const QUOTA = 'virtflow-quota';
const RESTRICTED = 'virtflow-restricted';

const quota = (pods: string): Promise<string> =>
  apply({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'few-pods', namespace: QUOTA },
    spec: { hard: { pods } },
  });

const refusal = async (namespace: string, name: string): Promise<string> => {
  const isRefused = (vmi: Parameters<typeof condition>[0]) => condition(vmi, 'Synchronized')?.reason === 'FailedCreate';
  const vmi = await untilInstance('refused', namespace, name, isRefused, 60_000);
  return condition(vmi, 'Synchronized')?.message ?? '';
};

beforeAll(async () => {
  await ensureNamespace(QUOTA);
  await ensureNamespace(RESTRICTED, { 'pod-security.kubernetes.io/enforce': 'restricted' });
  for (const namespace of [QUOTA, RESTRICTED]) await emptyNamespace(namespace);
  await quota('0');
  await applyInstance(RESTRICTED, 'plain', guestSpec({ network: true }));
  await applyInstance(QUOTA, 'limited', guestSpec());
  const onHost = guestSpec({
    change: (spec) => {
      const path = `${SHARED_DIRECTORY}/${RESTRICTED}/disk.img`;
      spec.domain.devices.disks = [{ name: 'host', disk: { bus: 'virtio' } }];
      spec.volumes = [{ name: 'host', hostDisk: { path, type: 'DiskOrCreate', capacity: '16Mi' } }];
    },
  });
  await applyInstance(RESTRICTED, 'on-host', onHost);
});
afterAll(async () => {
  for (const namespace of [QUOTA, RESTRICTED]) await emptyNamespace(namespace);
});

test('a ResourceQuota that leaves no room is named, with what to do', async () => {
  const message = await refusal(QUOTA, 'limited');
  expect(message).toContain('exceeded quota: few-pods');
  expect(message).toContain('Raise the ResourceQuota or free resources');
});

test('a namespace that enforces restricted refuses a hostDisk: the rule is named, with what to do', async () => {
  const message = await refusal(RESTRICTED, 'on-host');
  expect(message).toContain('violates PodSecurity "restricted:latest"');
  expect(message).toContain('hostPath');
  expect(message).toContain('label the namespace pod-security.kubernetes.io/enforce=privileged');
});

test('once the quota is raised the start goes on by itself', async () => {
  await quota('1');
  const vmi = await untilInstance('ready', QUOTA, 'limited', isAgentConnected);
  expect(condition(vmi, 'Synchronized')).toBeUndefined();
});

test('a VM with the Pod network boots in a namespace that enforces restricted', async () => {
  await untilInstance('ready', RESTRICTED, 'plain', isAgentConnected);
});
