import { describe, expect, test } from '@jest/globals';
import { configured, gated, instance, withDomain } from '../../../../support/instances.ts';
import { container, render, specOf } from './render.ts';

const noImageVolumes = gated([], ['ImageVolume']);

describe('compute', () => {
  test('knows its VMI, its Pod and its grace period', () => {
    expect(container(render(instance({ terminationGracePeriodSeconds: 5 })), 'compute').env).toEqual(
      expect.arrayContaining([
        { name: 'VIRTFLOW_VMI_NAMESPACE', value: 'shop' },
        { name: 'VIRTFLOW_VMI_NAME', value: 'web' },
        { name: 'VIRTFLOW_VMI_UID', value: '0b7e2a4e-95b0-4a6e-8a5f-3d7a3f8f1c11' },
        { name: 'VIRTFLOW_GRACE_PERIOD_SECONDS', value: '5' },
        { name: 'VIRTFLOW_POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
        { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ]),
    );
  });

  test("serves the guest's ports", () => {
    const ports = [
      { port: 80, name: 'http' },
      { port: 53, protocol: 'UDP' },
    ];
    const pod = render(withDomain({ devices: { interfaces: [{ name: 'default', masquerade: {}, ports }] } }));
    expect(container(pod, 'compute').ports).toEqual([
      { containerPort: 80, name: 'http', protocol: 'TCP' },
      { containerPort: 53, protocol: 'UDP' },
    ]);
  });

  test('image and pull policy are the configured ones', () => {
    const compute = container(render(instance(), { config: configured({ imagePullPolicy: 'Always' }) }), 'compute');
    expect([compute.image, compute.imagePullPolicy]).toEqual(['registry.test/launcher:1', 'Always']);
  });
});

describe('probes', () => {
  const probe = (given: object): unknown =>
    container(render(instance({ readinessProbe: given })), 'compute').readinessProbe;

  test('wait for libvirt and have Kubernetes’ defaults', () => {
    expect(probe({ httpGet: { port: 8080 } })).toEqual({
      httpGet: { port: 8080 },
      initialDelaySeconds: 10,
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    });
    expect(probe({ tcpSocket: { port: 'ssh' }, initialDelaySeconds: 20 })).toMatchObject({
      tcpSocket: { port: 'ssh' },
      initialDelaySeconds: 30,
    });
  });

  test('commands run in the guest, with a second for the way', () => {
    expect(probe({ exec: { command: ['cat', '/ready'] }, timeoutSeconds: 4 })).toMatchObject({
      exec: {
        command: [
          'virt-probe',
          '--domainName',
          'shop_web',
          '--timeoutSeconds',
          '4',
          '--command',
          'cat',
          '--',
          '/ready',
        ],
      },
      timeoutSeconds: 5,
    });
    expect(probe({ guestAgentPing: {} })).toMatchObject({
      exec: { command: ['virt-probe', '--domainName', 'shop_web', '--timeoutSeconds', '1', '--guestAgentPing'] },
      timeoutSeconds: 2,
    });
  });
});

describe('serial console log', () => {
  const isLogged = (devices: object, configuration: object = {}): boolean =>
    (specOf(render(withDomain({ devices }), { config: configured(configuration) })).initContainers ?? []).some(
      ({ name, restartPolicy }) => name === 'guest-console-log' && restartPolicy === 'Always',
    );
  const off = { virtualMachineOptions: { disableSerialConsoleLog: {} } };

  test.each<[string, object, object, boolean]>([
    ['printed by default', {}, {}, true],
    ['no console, no log', { autoattachSerialConsole: false }, {}, false],
    ['the VMI may turn it off', { logSerialConsole: false }, {}, false],
    ['the cluster may turn it off', {}, off, false],
    ['the VMI may turn it on again', { logSerialConsole: true }, off, true],
  ])('%s', (_, devices, configuration, expected) => {
    expect(isLogged(devices, configuration)).toBe(expected);
  });
});

describe('images of containerDisks and kernelBoot', () => {
  const kernelBoot = {
    container: { image: 'r.test/k:1', kernelPath: '/k', imagePullPolicy: 'Always', imagePullSecret: 'keys' },
  };
  const vmi = withDomain(
    { firmware: { kernelBoot } },
    {
      volumes: [
        {
          name: 'os',
          containerDisk: { image: 'r.test/os:1', imagePullPolicy: 'IfNotPresent', imagePullSecret: 'keys' },
        },
        { name: 'data', emptyDisk: { capacity: '1Gi' } },
      ],
    },
  );

  test('with the gate they are volumes of compute, read-only', () => {
    const pod = render(vmi);
    expect(specOf(pod).containers.map(({ name }) => name)).toEqual(['compute']);
    expect(specOf(pod).volumes).toEqual(
      expect.arrayContaining([
        { name: 'os', image: { reference: 'r.test/os:1', pullPolicy: 'IfNotPresent' } },
        { name: 'kernel-boot-volume', image: { reference: 'r.test/k:1', pullPolicy: 'Always' } },
      ]),
    );
    expect(container(pod, 'compute').volumeMounts).toContainEqual({
      name: 'os',
      mountPath: '/var/run/kubevirt-image-volume/os',
      readOnly: true,
    });
  });

  test('and a container that ends at once has each pulled, so that Kubernetes tells its digest', () => {
    const pod = render(vmi);
    const [, os, kernel] = specOf(pod).initContainers ?? [];
    expect([os?.name, os?.image, os?.imagePullPolicy]).toEqual(['volumeos', 'r.test/os:1', 'IfNotPresent']);
    expect([kernel?.name, kernel?.image]).toEqual(['volumekernel-boot-volume', 'r.test/k:1']);
    expect(specOf(pod).volumes).toContainEqual({
      name: 'launcher-volume',
      image: { reference: 'registry.test/launcher:1', pullPolicy: 'IfNotPresent' },
    });
    const [mounted] = os?.volumeMounts ?? [];
    expect(mounted).toMatchObject({ name: 'launcher-volume', readOnly: true });
    expect(os?.command).toEqual([`${mounted?.mountPath}/usr/lib/virtflow/busybox`, 'true']);
  });

  test('images that cannot run as containers are mounted without it', () => {
    const artifact = structuredClone(vmi);
    artifact.metadata = {
      ...artifact.metadata,
      annotations: { 'kubevirt.io/image-volume-skip-digest-resolution': 'true' },
    };
    const { initContainers, volumes } = specOf(render(artifact));
    expect(initContainers?.map(({ name }) => name)).toEqual(['guest-console-log']);
    expect(volumes?.map(({ name }) => name)).toEqual(expect.arrayContaining(['os', 'kernel-boot-volume']));
    expect(volumes?.map(({ name }) => name)).not.toContain('launcher-volume');
  });

  test('without it a container holds each, after one that has it pulled', () => {
    const pod = render(vmi, { config: noImageVolumes });
    expect(specOf(pod).containers.map(({ name, image }) => [name, image])).toEqual([
      ['compute', 'registry.test/launcher:1'],
      ['volumeos', 'r.test/os:1'],
      ['volumekernel-boot-volume', 'r.test/k:1'],
    ]);
    expect(specOf(pod).initContainers?.map(({ name, image }) => [name, image])).toEqual([
      ['guest-console-log', 'registry.test/launcher:1'],
      ['container-disk-binary', 'registry.test/launcher:1'],
      ['volumeos-init', 'r.test/os:1'],
      ['volumekernel-boot-volume-init', 'r.test/k:1'],
    ]);
  });

  test('what such containers run is copied from the launcher’s image, and only there it is written', () => {
    const pod = render(vmi, { config: noImageVolumes });
    const copy = container(pod, 'container-disk-binary');
    const copied = copy.command?.at(-1);
    expect(copy.command?.[2]).toBe('/usr/lib/virtflow/busybox');
    for (const name of ['container-disk-binary', 'volumeos-init', 'volumeos']) {
      const [mount] = container(pod, name).volumeMounts ?? [];
      expect(copied).toBe(`${mount?.mountPath}/busybox`);
      expect(mount?.readOnly ?? false).toBe(name !== 'container-disk-binary');
    }
    expect(container(pod, 'volumeos-init').command).toEqual([copied, 'true']);
    expect(container(pod, 'volumeos').command?.[0]).toBe(copied);
    expect(container(pod, 'compute').volumeMounts?.map(({ name }) => name)).not.toContain('virt-bin-share-dir');
  });

  describe('where the cluster skips init containers of images', () => {
    const skipping = { ...noImageVolumes, skipImageInitContainers: true };

    test('compute copies the program, before the containers that wait with it are started', () => {
      const pod = render(vmi, { config: skipping });
      expect(specOf(pod).initContainers?.map(({ name }) => name)).toEqual(['guest-console-log']);
      expect(specOf(pod).containers[0]?.name).toBe('compute');
      const { lifecycle, volumeMounts } = container(pod, 'compute');
      const copied = lifecycle?.postStart?.exec?.command?.at(-1);
      expect(lifecycle?.postStart?.exec?.command?.[2]).toBe('/usr/lib/virtflow/busybox');
      const mount = volumeMounts?.find(({ name }) => name === 'virt-bin-share-dir');
      expect(copied).toBe(`${mount?.mountPath}/busybox`);
      expect(mount?.readOnly ?? false).toBe(false);
      expect(container(pod, 'volumeos').command?.[0]).toBe(copied);
      expect(container(pod, 'volumeos').volumeMounts?.[0]?.readOnly).toBe(true);
    });

    test('images that are mounted keep theirs: nothing else tells their digests', () => {
      expect(render(vmi, { config: { ...configured(), skipImageInitContainers: true } })).toEqual(render(vmi));
    });
  });

  test.each([
    ['with the gate', configured()],
    ['without it', noImageVolumes],
    ['without init containers', { ...noImageVolumes, skipImageInitContainers: true }],
  ])('a guest without images has no container more (%s)', (_, config) => {
    const claim = { name: 'os', persistentVolumeClaim: { claimName: 'disk' } };
    const { containers, initContainers, volumes } = specOf(render(instance({ volumes: [claim] }), { config }));
    expect(containers.map(({ name }) => name)).toEqual(['compute']);
    expect(initContainers?.map(({ name }) => name)).toEqual(['guest-console-log']);
    for (const own of ['launcher-volume', 'virt-bin-share-dir'])
      expect(volumes?.map(({ name }) => name)).not.toContain(own);
    expect(containers[0]).not.toHaveProperty('lifecycle');
  });

  test('each pull secret is named once', () => {
    expect(specOf(render(vmi, { imagePullSecret: 'own' })).imagePullSecrets).toEqual([
      { name: 'keys' },
      { name: 'own' },
    ]);
    expect(specOf(render(instance())).imagePullSecrets).toBeUndefined();
  });
});
