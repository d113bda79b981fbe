import { expect, test } from '@jest/globals';
import { renderAttachmentManifest } from '../../../../../activities/controller/launch-manifest/index.ts';
import { configured, instance } from '../../../../support/instances.ts';

const volume = (name: string) => ({ name, persistentVolumeClaim: { claimName: `${name}-claim`, hotpluggable: true } });
const render = (names: string[], selinuxContext?: string) =>
  renderAttachmentManifest({
    vmi: { ...instance({}), ...(selinuxContext === undefined ? {} : { status: { selinuxContext } }) },
    config: configured(),
    launcherImage: 'launcher:1',
    owner: { name: 'virt-launcher-web-1', uid: 'pod-uid', node: 'node-7' },
    volumes: names.map(volume),
    claims: {
      'files-claim': { volumeMode: 'Filesystem', uid: 'f' },
      'blocks-claim': { volumeMode: 'Block', uid: 'b' },
    },
  });

test("it goes with the guest's Pod, on its node, whatever else keeps Pods from there", () => {
  const { metadata, spec } = render(['files']);
  expect(metadata).toMatchObject({
    labels: { 'kubevirt.io': 'hotplug-disk' },
    annotations: { 'kubevirt.io/owner-vmi-name': 'web' },
    ownerReferences: [{ kind: 'Pod', uid: 'pod-uid', controller: true }],
  });
  expect(JSON.stringify(spec?.affinity)).toContain('node-7');
  expect(spec?.tolerations?.map(({ key }) => key)).toContain('node.kubernetes.io/unschedulable');
  expect(spec?.terminationGracePeriodSeconds).toBe(0);
});

test('file systems are mounted, blocks are devices', () => {
  const [container] = render(['files', 'blocks']).spec?.containers ?? [];
  expect(container?.volumeMounts).toMatchObject([{ name: 'hotplug-disks' }, { name: 'files', mountPath: '/files' }]);
  expect(container?.volumeDevices).toEqual([{ name: 'blocks', devicePath: '/path/blocks/b' }]);
});

test('the same volumes have the same Pod, others another', () => {
  const name = (names: string[]) => render(names).metadata?.name;
  expect(name(['files'])).toMatch(/^hp-volume-[0-9a-f]{8}$/);
  expect(name(['files'])).toBe(name(['files']));
  expect(name(['files'])).not.toBe(name(['files', 'blocks']));
});

test("its files have the level of the guest's", () => {
  const level = (context?: string) =>
    render(['files'], context).spec?.containers[0]?.securityContext?.seLinuxOptions?.level;
  expect([level(), level('system_u:object_r:container_file_t:s0:c12,c777')]).toEqual(['s0', 's0:c12,c777']);
});
