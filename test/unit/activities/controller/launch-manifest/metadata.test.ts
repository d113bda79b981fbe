import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { podName } from '../../../../../activities/controller/launch-manifest/index.ts';
import { effectiveConfiguration } from '../../../../../api/cluster-config/index.ts';
import { instance, withDomain } from '../../../../support/instances.ts';
import { render, specOf } from './render.ts';

describe('name of the Pod', () => {
  test('is the same for one attempt, another for the next and for a VMI recreated under the name', () => {
    const first = podName(instance(), { attempt: 1 });
    expect(first).toMatch(/^virt-launcher-web-[0-9a-f]{8}$/);
    expect(podName(instance(), { attempt: 1 })).toBe(first);
    expect(podName(instance(), { attempt: 2 })).not.toBe(first);
    expect(podName(instance({}, { uid: 'another' }), { attempt: 1 })).not.toBe(first);
  });

  test('is a DNS name of at most 63 characters for every VMI name', () => {
    const names = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?){0,4}$/);
    fc.assert(
      fc.property(names, (name) => {
        const pod = podName(instance({}, { name }), { attempt: 1 });
        expect(pod.length).toBeLessThanOrEqual(63);
        expect(pod).toMatch(/^virt-launcher-[a-z0-9]+([-.]+[a-z0-9]+)*-[0-9a-f]{8}$/);
        expect(pod).not.toMatch(/[-.]\.|\.-/);
      }),
    );
  });
});

describe('labels', () => {
  test("the VMI's own, and KubeVirt's", () => {
    const pod = render(instance({}, { labels: { tier: 'front', 'kubevirt.io': 'mine' } }));
    expect(pod.metadata?.labels).toEqual({
      tier: 'front',
      'kubevirt.io': 'virt-launcher',
      'kubevirt.io/created-by': '0b7e2a4e-95b0-4a6e-8a5f-3d7a3f8f1c11',
      'vm.kubevirt.io/name': 'web',
      'vmi.kubevirt.io/id': 'web',
    });
  });

  test('a name that is no label value is cut and told apart by a hash', () => {
    const id = render(instance({}, { name: 'a'.repeat(70) })).metadata?.labels?.['vmi.kubevirt.io/id'];
    expect(id).toMatch(/^a{54}-[0-9a-f]{8}$/);
    expect(render(instance({}, { name: 'a'.repeat(71) })).metadata?.labels?.['vmi.kubevirt.io/id']).not.toBe(id);
  });

  test('sidecar injection is asked for by label', () => {
    const pod = render(instance({}, { annotations: { 'sidecar.istio.io/inject': 'true' } }));
    expect(pod.metadata?.labels?.['sidecar.istio.io/inject']).toBe('true');
    expect(specOf(pod).automountServiceAccountToken).toBe(true);
  });
});

test('the VMI owns and controls the Pod', () => {
  expect(render(instance()).metadata?.ownerReferences).toEqual([
    {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      name: 'web',
      uid: '0b7e2a4e-95b0-4a6e-8a5f-3d7a3f8f1c11',
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
});

describe('annotations', () => {
  const annotations = (own: Record<string, string>, more = {}): Record<string, string> =>
    render(instance({}, { annotations: own }), more).metadata?.annotations ?? {};

  test('tell domain, container and overhead, and nothing of virtflow', () => {
    expect(Object.keys(annotations({})).filter((key) => key.includes('virtflow'))).toEqual([]);
    expect(annotations({})).toMatchObject({
      'kubevirt.io/domain': 'web',
      'kubectl.kubernetes.io/default-container': 'compute',
      'kubevirt.io/memory-overhead-bytes': String(288 * 2 ** 20),
      'kubevirt.io/migrationTransportUnix': 'true',
      'descheduler.alpha.kubernetes.io/request-evict-only': '',
    });
  });

  test("the VMI's own go along, but not those of kubectl and of API versions", () => {
    const own = {
      note: 'x',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      'kubevirt.io/latest-observed-api-version': 'v1',
      'kubevirt.io/storage-observed-api-version': 'v1',
    };
    const given = annotations(own);
    expect(given['note']).toBe('x');
    expect(Object.keys(given).filter((key) => key in own)).toEqual(['note']);
  });

  test('backup hooks freeze the guest unless the VMI, or else the cluster, says no', () => {
    const hook = 'pre.hook.backup.velero.io/command';
    const skip = 'kubevirt.io/skip-backup-hooks';
    const config = effectiveConfiguration({ metadata: { annotations: { [skip]: 'true' } }, spec: {} });
    expect(annotations({})[hook]).toBe('["/usr/bin/virt-freezer", "--freeze", "--name", "web", "--namespace", "shop"]');
    expect(annotations({ [skip]: 'true' })[hook]).toBeUndefined();
    expect(annotations({}, { config })[hook]).toBeUndefined();
    expect(annotations({ [skip]: 'false' }, { config })[hook]).toBeDefined();
  });

  test('a masqueraded interface is announced to the service mesh', () => {
    const vmi = withDomain({ devices: { interfaces: [{ name: 'default', masquerade: {} }] } });
    expect(render(vmi).metadata?.annotations).toMatchObject({
      'traffic.sidecar.istio.io/kubevirtInterfaces': 'k6t-eth0',
      'istio.io/reroute-virtual-interfaces': 'k6t-eth0',
    });
  });

  test('attached networks are asked for by name, MAC and a hashed interface name; absent ones are not', () => {
    const interfaces = [
      { name: 'default', bridge: {} },
      { name: 'blue', bridge: {}, macAddress: '02:00:00:00:00:01' },
      { name: 'red', bridge: {} },
      { name: 'old', bridge: {}, state: 'absent' },
    ];
    const networks = [
      { name: 'default', pod: {} },
      { name: 'blue', multus: { networkName: 'blue-net' } },
      { name: 'red', multus: { networkName: 'other/red-net' } },
      { name: 'old', multus: { networkName: 'old-net' } },
    ];
    const pod = render(withDomain({ devices: { interfaces } }, { networks }));
    expect(JSON.parse(pod.metadata?.annotations?.['k8s.v1.cni.cncf.io/networks'] ?? '')).toEqual([
      {
        name: 'blue-net',
        namespace: 'shop',
        mac: '02:00:00:00:00:01',
        interface: expect.stringMatching(/^pod[0-9a-f]{11}$/),
      },
      { name: 'red-net', namespace: 'other', interface: expect.stringMatching(/^pod[0-9a-f]{11}$/) },
    ]);
  });

  test("an attachment in place of the Pod's network is named", () => {
    const networks = [{ name: 'main', multus: { networkName: 'main-net', default: true } }];
    const pod = render(withDomain({ devices: { interfaces: [{ name: 'main', bridge: {} }] } }, { networks }));
    expect(pod.metadata?.annotations).toMatchObject({ 'v1.multus-cni.io/default-network': 'main-net' });
    expect(pod.metadata?.annotations?.['k8s.v1.cni.cncf.io/networks']).toBeUndefined();
  });
});
