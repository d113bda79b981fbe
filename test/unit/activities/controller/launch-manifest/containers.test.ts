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

  test('its size follows the configuration, and its limits beside a pinned guest', () => {
    const log = (domain: object, configuration: object = {}): unknown =>
      container(render(withDomain(domain), { config: configured(configuration) }), 'guest-console-log').resources;
    expect(log({})).toEqual({ requests: { cpu: '5m', memory: '35M' }, limits: { memory: '60M' } });
    expect(log({ resources: { limits: { cpu: '2' } } })).toEqual({
      requests: { cpu: '5m', memory: '35M' },
      limits: { cpu: '15m', memory: '60M' },
    });
    expect(log({ cpu: { cores: 1, dedicatedCpuPlacement: true } })).toEqual({
      requests: { cpu: '15m', memory: '60M' },
      limits: { cpu: '15m', memory: '60M' },
    });
    const supportContainerResources = [{ type: 'guest-console-log', resources: { requests: { cpu: '7m' } } }];
    expect(log({}, { supportContainerResources })).toMatchObject({ requests: { cpu: '7m', memory: '35M' } });
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

  test('without it a container holds each, with a program that waits from the launcher’s image', () => {
    const pod = render(vmi, { config: noImageVolumes });
    expect(specOf(pod).containers.map(({ name, image }) => [name, image])).toEqual([
      ['compute', 'registry.test/launcher:1'],
      ['volumeos', 'r.test/os:1'],
      ['volumekernel-boot-volume', 'r.test/k:1'],
    ]);
    expect(container(pod, 'volumeos').resources).toEqual({
      requests: { cpu: '1m', memory: '1M', 'ephemeral-storage': '50M' },
      limits: { memory: '40M' },
    });
    const [shared] = container(pod, 'volumeos').volumeMounts ?? [];
    const own = container(pod, 'compute').volumeMounts?.find(({ name }) => name === shared?.name);
    const copied = container(pod, 'compute').lifecycle?.postStart?.exec?.command?.at(-1);
    expect(copied).toBe(`${own?.mountPath}/busybox`);
    expect(container(pod, 'volumeos').command?.[0]).toBe(`${shared?.mountPath}/busybox`);
    expect([own?.readOnly, shared?.readOnly]).toEqual([undefined, true]);
  });

  test('their CPU is limited where that of compute is, or where the cluster says so', () => {
    const limits = (resources: object, configuration: object = {}): unknown => {
      const config = { ...configured(configuration), featureGates: noImageVolumes.featureGates };
      return container(render(withDomain({ ...vmi.spec.domain, resources }, vmi.spec), { config }), 'volumeos')
        .resources?.limits;
    };
    expect(limits({ limits: { cpu: '1' } })).toEqual({ cpu: '10m', memory: '40M' });
    const supportContainerResources = [{ type: 'container-disk', resources: { limits: { cpu: '50m' } } }];
    expect(limits({}, { supportContainerResources })).toEqual({ cpu: '50m', memory: '40M' });
  });

  test('nothing is copied where no image needs it', () => {
    expect(container(render(instance(), { config: noImageVolumes }), 'compute').lifecycle).toBeUndefined();
  });

  test('each pull secret is named once', () => {
    expect(specOf(render(vmi, { imagePullSecret: 'own' })).imagePullSecrets).toEqual([
      { name: 'keys' },
      { name: 'own' },
    ]);
    expect(specOf(render(instance())).imagePullSecrets).toBeUndefined();
  });
});
