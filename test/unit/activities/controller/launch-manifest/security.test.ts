import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { effectiveConfiguration } from '../../../../../api/cluster-config/index.ts';
import type { KubeVirt } from '../../../../../api/kubevirt/types.ts';
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

  test('the Pod has one user, and only harmless volumes', () => {
    expect(spec.securityContext).toEqual({ runAsUser: 107, runAsGroup: 107, runAsNonRoot: true, fsGroup: 107 });
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

test('the configuration that virtflow comes with asks for the seccomp profile of the runtime', () => {
  const config = effectiveConfiguration(parse(readFileSync('deploy/base/kubevirt.yaml', 'utf8')) as KubeVirt);
  expect(specOf(render(everything, { config })).securityContext?.seccompProfile).toEqual({ type: 'RuntimeDefault' });
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

const start = { attempt: 1 };
const migration = { migration: { name: 'm', uid: 'u' } };
test.each([
  ['a start', { allowPostCopy: true }, { runtimeDefaultProfile: true }, start, undefined],
  ['a migration without post-copy', {}, { runtimeDefaultProfile: true }, migration, undefined],
  ['a migration with post-copy', { allowPostCopy: true }, { runtimeDefaultProfile: true }, migration, 'Unconfined'],
  ['a migration with post-copy and no profile', { allowPostCopy: true }, undefined, migration, undefined],
  [
    'a migration with post-copy and a profile of the cluster',
    { allowPostCopy: true },
    { localhostProfile: 'own.json' },
    migration,
    undefined,
  ],
])('system calls of compute in %s', (_, migrations, customProfile, purpose, type) => {
  const seccompConfiguration = customProfile && { virtualMachineInstanceProfile: { customProfile } };
  const config = configured({ migrations, ...(seccompConfiguration ? { seccompConfiguration } : {}) });
  const [compute] = specOf(render(everything, { config, purpose })).containers;
  expect(compute?.securityContext?.seccompProfile?.type).toBe(type);
});
