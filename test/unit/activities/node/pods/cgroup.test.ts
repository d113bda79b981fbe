import { expect, test } from '@jest/globals';
import { bareContainerId, isInAnyPod, isInContainer, isInPod } from '../../../../../activities/node/pods/cgroup.ts';

const uid = '0f3c2f6e-8a5e-4a8e-9a43-5b1f6f2f9c11';
const underscored = '0f3c2f6e_8a5e_4a8e_9a43_5b1f6f2f9c11';
const id = 'c0ffee'.padEnd(64, '0');

type Case = {
  text: string;
  inPod: boolean;
  inContainer: boolean;
};

test.each<Case>`
  style                        | text                                                                                                                   | inPod    | inContainer
  ${'v1 cgroupfs'}             | ${`9:name=systemd:/\n4:memory:/kubepods/burstable/pod${uid}/${id}`}                                                    | ${true}  | ${true}
  ${'v1 cgroupfs, node root'}  | ${`4:memory:/virtflow/node-a/kubepods/besteffort/pod${uid}/${id}`}                                                     | ${true}  | ${true}
  ${'v2 cgroupfs, guaranteed'} | ${`0::/kubepods/pod${uid}/${id}`}                                                                                      | ${true}  | ${true}
  ${'v2 systemd containerd'}   | ${`0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${underscored}.slice/cri-containerd-${id}.scope`} | ${true}  | ${true}
  ${'v2 systemd cri-o'}        | ${`0::/kubepods.slice/kubepods-pod${underscored}.slice/crio-${id}.scope/container`}                                    | ${true}  | ${true}
  ${'v1 systemd'}              | ${`4:memory:/system.slice/containerd.service/kubepods-burstable-pod${underscored}.slice:cri-containerd:${id}`}         | ${true}  | ${true}
  ${'own cgroup namespace'}    | ${`0::/../../pod${uid}/${id}`}                                                                                         | ${true}  | ${true}
  ${'nested below'}            | ${`0::/kubepods/pod${uid}/${id}/libvirt/qemu-1`}                                                                       | ${true}  | ${true}
  ${'sandbox of the same Pod'} | ${`0::/kubepods/pod${uid}/${'1'.repeat(64)}`}                                                                          | ${true}  | ${false}
  ${'another Pod'}             | ${`0::/kubepods/pod${uid.replace('0f', '1f')}/${'1'.repeat(64)}`}                                                      | ${false} | ${false}
  ${'uid as part of a name'}   | ${`0::/kubepods/pod${uid}x/${'1'.repeat(64)}`}                                                                         | ${false} | ${false}
  ${'no container'}            | ${'0::/init.scope\n'}                                                                                                  | ${false} | ${false}
  ${'nothing'}                 | ${''}                                                                                                                  | ${false} | ${false}
`('$style: Pod $inPod, container $inContainer', ({ text, inPod, inContainer }: Case) => {
  expect(isInPod(text, uid)).toBe(inPod);
  expect(isInContainer(text, id)).toBe(inContainer);
});

test.each([
  [true, `0::/kubepods/pod${uid}/${id}`],
  [true, `0::/kubepods.slice/kubepods-burstable-pod${underscored}.slice/cri-containerd-${id}.scope`],
  [true, `4:memory:/system.slice/containerd.service/kubepods-burstable-pod${underscored}.slice:cri-containerd:${id}`],
  [false, '0::/system.slice/podman.service'],
  [false, '0::/kubepods/burstable'],
  [false, ''],
])('in some Pod: %s for %s', (inAnyPod, text) => {
  expect(isInAnyPod(text)).toBe(inAnyPod);
});

test.each([
  ['containerd://abc', 'abc'],
  ['cri-o://abc', 'abc'],
  ['', undefined],
  [undefined, undefined],
])('container id %s is %s', (given, bare) => {
  expect(bareContainerId(given)).toBe(bare);
});
