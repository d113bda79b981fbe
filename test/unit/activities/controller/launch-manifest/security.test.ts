import { describe, expect, test } from '@jest/globals';
import { configured, gated, withDomain } from '../../../../support/instances.ts';
import { render, specOf } from './render.ts';

const everything = withDomain(
  {
    devices: { interfaces: [{ name: 'default', masquerade: {} }] },
    memory: { guest: '1Gi', hugepages: { pageSize: '2Mi' } },
  },
  {
    volumes: [
      { name: 'os', containerDisk: { image: 'r.test/os:1' } },
      { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'seed', cloudInitNoCloud: { secretRef: { name: 'seed' } } },
    ],
  },
);

/** What the Pod security standard `restricted` (Kubernetes 1.36) demands of each container. */
describe.each([
  ['image volumes', configured()],
  ['containers that hold images', gated([], ['ImageVolume'])],
])('PodSecurity restricted, with %s', (_, config) => {
  const spec = specOf(render(everything, { config }));

  test('no container can gain privileges', () => {
    for (const { name, securityContext } of [...spec.containers, ...(spec.initContainers ?? [])]) {
      expect({ name, ...securityContext }).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 107,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
      expect(['NET_BIND_SERVICE']).toEqual(expect.arrayContaining(securityContext?.capabilities?.add ?? []));
    }
  });

  test('the Pod has the runtime’s seccomp profile, one user, and only harmless volumes', () => {
    expect(spec.securityContext).toEqual({
      runAsUser: 107,
      runAsGroup: 107,
      runAsNonRoot: true,
      fsGroup: 107,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    const kinds = (spec.volumes ?? []).flatMap((volume) => Object.keys(volume).filter((key) => key !== 'name'));
    expect(['emptyDir', 'persistentVolumeClaim', 'secret', 'image']).toEqual(expect.arrayContaining(kinds));
    expect([spec.hostNetwork, spec.hostPID, spec.hostIPC, spec.shareProcessNamespace]).toEqual(
      Array(4).fill(undefined),
    );
  });
});

test('no token, no service environment, no restart', () => {
  expect(specOf(render(everything))).toMatchObject({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: 'Never',
    readinessGates: [{ conditionType: 'kubevirt.io/virtual-machine-unpaused' }],
  });
});

test('the cluster may name a seccomp profile and an SELinux type', () => {
  const profile = { virtualMachineInstanceProfile: { customProfile: { localhostProfile: 'kubevirt/kubevirt.json' } } };
  const config = configured({ seccompConfiguration: profile, selinuxLauncherType: 'vm_t' });
  expect(specOf(render(everything, { config })).securityContext).toMatchObject({
    seccompProfile: { type: 'Localhost', localhostProfile: 'kubevirt/kubevirt.json' },
    seLinuxOptions: { type: 'vm_t' },
  });
});

test('the token is mounted for a VMI that shows it to its guest', () => {
  const volumes = [{ name: 'token', serviceAccount: { serviceAccountName: 'robot' } }];
  expect(specOf(render(withDomain({}, { volumes })))).toMatchObject({
    automountServiceAccountToken: true,
    serviceAccountName: 'robot',
  });
  expect(specOf(render(withDomain({}, { serviceAccountName: 'other' })))).toMatchObject({
    automountServiceAccountToken: false,
    serviceAccountName: 'other',
  });
});

test.each([
  ['a start', { allowPostCopy: true }, {}, { attempt: 1 }, undefined],
  ['a migration without post-copy', {}, {}, { migration: { name: 'm', uid: 'u' } }, undefined],
  ['a migration with post-copy', { allowPostCopy: true }, {}, { migration: { name: 'm', uid: 'u' } }, 'Unconfined'],
  [
    'a migration with post-copy and a profile of the cluster',
    { allowPostCopy: true },
    { virtualMachineInstanceProfile: { customProfile: { localhostProfile: 'own.json' } } },
    { migration: { name: 'm', uid: 'u' } },
    undefined,
  ],
])('system calls of compute in %s', (_, migrations, seccompConfiguration, purpose, type) => {
  const config = configured({ migrations, seccompConfiguration });
  const [compute] = specOf(render(everything, { config, purpose })).containers;
  expect(compute?.securityContext?.seccompProfile?.type).toBe(type);
});
