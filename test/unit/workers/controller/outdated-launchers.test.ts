import { expect, test } from '@jest/globals';
import type { Pod } from '../../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../../api/kubevirt/types.ts';
import { wrongLabels } from '../../../../workers/controller/outdated-launchers.ts';

const MARK = { 'kubevirt.io/outdatedLauncherImage': '' };

const vmi = (
  name: string,
  status: NonNullable<VirtualMachineInstance['status']>,
  labels: Record<string, string> = {},
): VirtualMachineInstance => ({
  metadata: { namespace: 'shop', name, uid: `${name}-uid`, labels },
  spec: { domain: { devices: {} } },
  status,
});
const podOf = (name: string, image: string, labels: Record<string, string> = {}): Pod => ({
  metadata: {
    ...{ namespace: 'shop', name: `virt-launcher-${name}`, uid: `pod-${name}` },
    labels: { 'kubevirt.io': 'virt-launcher', 'kubevirt.io/created-by': `${name}-uid`, ...labels },
  },
  spec: { containers: [{ name: 'compute', image }] },
});
const wrong = (instances: VirtualMachineInstance[], pods: Pod[] = []): string[] =>
  wrongLabels(instances, pods, 'launcher:2').map(
    ({ kind, metadata, label }) => `${kind} ${metadata.name} ${label ?? '-'}`,
  );

const running = (image: string) => ({ phase: 'Running', launcherContainerImageVersion: image });

test('a guest in an older launcher is marked, and its Pod', () => {
  expect(wrong([vmi('old', running('launcher:1'))], [podOf('old', 'launcher:1')])).toEqual([
    'VirtualMachineInstance old ',
    'Pod virt-launcher-old ',
  ]);
});

test('the mark goes when the launcher is as new as they get', () => {
  expect(wrong([vmi('new', running('launcher:2'), MARK)], [podOf('new', 'launcher:2', MARK)])).toEqual([
    'VirtualMachineInstance new -',
    'Pod virt-launcher-new -',
  ]);
});

test.each<[string, VirtualMachineInstance, Pod[]]>([
  ['says what is so', vmi('a', running('launcher:1'), MARK), [podOf('a', 'launcher:1', MARK)]],
  ['has the newest', vmi('a', running('launcher:2')), [podOf('a', 'launcher:2')]],
  ['has no launcher yet', vmi('a', { phase: 'Pending' }), []],
  ['is over', vmi('a', { ...running('launcher:1'), phase: 'Succeeded' }), [podOf('a', 'launcher:1')]],
])('what %s is left alone', (_, instance, pods) => {
  expect(wrong([instance], pods)).toEqual([]);
});
