import { createHash } from 'node:crypto';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { containerDiskImage } from '../../../api/launcher/paths.ts';
import { createContext } from '../../../deploy/local/context.ts';
import { buildGuest } from '../../../deploy/local/guest/build.ts';
import { runInGuest } from '../../../deploy/local/guest/exec.ts';
import { TEST_GUEST } from '../../../deploy/local/images.ts';
import { until } from '../../support/until.ts';
import { applyInstance, isAgentConnected, untilInstance } from '../support/instances.ts';
import { apply, getObject, kubectl } from '../support/kubectl.ts';
import { emptyNamespace, ensureNamespace } from '../support/namespaces.ts';
import { nodeVar, onNode, sharedFile } from '../support/nodes.ts';
import { launcherPod, systemPods } from '../support/pods.ts';
import { historyInClear, workflowIds } from '../support/workflows.ts';
import { SHARED_DIRECTORY, createClaim, guestSpec } from '../support/vms.ts';

jest.setTimeout(300_000);

const NAMESPACE = 'virtflow-storage';
const NODE = 'node-a';
const OTHER_NODE = 'node-b';
const SECRET = `of-the-secret-${Date.now()}`;
const CONTAINER_DISK = { image: TEST_GUEST, imagePullPolicy: 'IfNotPresent' } as const;
const ctx = createContext();

const inGuest = async (name: string, script: string): Promise<string> =>
  (await runInGuest(ctx, { namespace: NAMESPACE, name }, script)).trim();

const disk = (name: string, device: object = { disk: { bus: 'virtio' } }) => ({ name, ...device });

/** Container disk, blank disk and inline cloud-init, with the Pod network. */
const inline = () =>
  guestSpec({
    network: true,
    change: (spec) => {
      spec.nodeSelector = { 'kubernetes.io/hostname': NODE };
      spec.domain.devices.disks = [disk('root'), disk('scratch'), disk('cloud-init')];
      spec.volumes = [
        { name: 'root', containerDisk: CONTAINER_DISK },
        { name: 'scratch', emptyDisk: { capacity: '16Mi' } },
        {
          name: 'cloud-init',
          cloudInitNoCloud: {
            userData: '#cloud-config\nhostname: named-inline\nruncmd:\n  - echo inline >/run/told\n',
          },
        },
      ];
    },
  });

/** The same container disk, a disk of the node and a claim, cloud-init from a Secret, no network. */
const secret = () =>
  guestSpec({
    change: (spec) => {
      spec.nodeSelector = { 'kubernetes.io/hostname': NODE };
      spec.domain.devices.disks = [disk('root'), disk('host'), disk('claim'), disk('cloud-init')];
      spec.volumes = [
        { name: 'root', containerDisk: CONTAINER_DISK },
        {
          name: 'host',
          hostDisk: { path: `${SHARED_DIRECTORY}/${NAMESPACE}-host/disk.img`, type: 'DiskOrCreate', capacity: '16Mi' },
        },
        { name: 'claim', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'cloud-init', cloudInitNoCloud: { secretRef: { name: 'user-data' } } },
      ];
    },
  });

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await emptyNamespace(NAMESPACE);
  await apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'user-data', namespace: NAMESPACE },
    stringData: { userdata: `#cloud-config\nhostname: named-by-secret\nruncmd:\n  - echo ${SECRET} >/run/told\n` },
  });
  await createClaim('data', '16Mi', NAMESPACE);
  await applyInstance(NAMESPACE, 'inline', inline());
  await applyInstance(NAMESPACE, 'secret', secret());
  await Promise.all(['inline', 'secret'].map((name) => untilInstance('ready', NAMESPACE, name, isAgentConnected)));
});
afterAll(async () => void (await emptyNamespace(NAMESPACE)));

describe('storage', () => {
  test('a container disk can be read and written, and its image stays as it is', async () => {
    expect(await inGuest('inline', 'cat /data/virtflow-container-disk')).toBe('This file came with the image.');
    const image = await readFile((await buildGuest(ctx)).disk);
    await inGuest('inline', 'dd if=/dev/urandom of=/data/written bs=64k count=16 && sync');
    const [copy = '', ...more] = await cachedDisks();
    expect(more).toEqual([]);
    expect(sha256(await readFile(copy))).toBe(sha256(image));
  });

  test('a second VM on the node uses the same copy of the image, and does not see what the first wrote', async () => {
    expect(await inGuest('secret', 'test -e /data/virtflow-container-disk && ls /data | grep -c written || true')).toBe(
      '0',
    );
    const files = await Promise.all(['inline', 'secret'].map(backingFile));
    expect(files[0]).toBe(files[1]);
  });

  test('an emptyDisk is blank, of its size, and can be written', async () => {
    expect(await inGuest('inline', 'cat /sys/block/vdb/size')).toBe(String((16 * 1024 * 1024) / 512));
    expect(await inGuest('inline', 'echo kept >/mnt/vdb/file && sync && cat /mnt/vdb/file')).toBe('kept');
  });

  test('a hostDisk and a claim hold what the guest writes', async () => {
    await inGuest('secret', `echo ${SECRET}-host >/mnt/vdb/file; echo ${SECRET}-claim >/mnt/vdc/file; sync`);
    const image = (directory: string) => sharedFile(`${NAMESPACE}-${directory}/disk.img`);
    expect((await readFile(image('host'))).includes(`${SECRET}-host`)).toBe(true);
    expect((await readFile(image('data'))).includes(`${SECRET}-claim`)).toBe(true);
  });

  test('cloud-init comes inline or from a Secret', async () => {
    expect(await inGuest('inline', 'hostname; cat /run/told')).toBe('named-inline\ninline');
    expect(await inGuest('secret', 'hostname; cat /run/told')).toBe(`named-by-secret\n${SECRET}`);
  });

  test('no value of a Secret is in any history of Temporal', async () => {
    const ids = await workflowIds(`VmNamespace = "${NAMESPACE}" AND VmName = "secret"`);
    expect(ids.length).toBeGreaterThanOrEqual(2);
    for (const id of ids) {
      const text = await historyInClear(id);
      expect(text).toContain('"secret"'); // the VMI's name: payloads are readable
      expect(text).not.toContain('of-the-secret-');
    }
  });
});

describe('the Pod network through masquerade', () => {
  test('the guest has a DHCP lease: address, route and name server', async () => {
    const [address, route, resolver] = [
      await inGuest('inline', 'ip -4 -o addr show scope global'),
      await inGuest('inline', 'ip route show default'),
      await inGuest('inline', 'cat /etc/resolv.conf'),
    ];
    expect(address).toContain('10.0.2.2/24');
    expect(route).toContain('via 10.0.2.1');
    expect(resolver).toContain('nameserver 10.96.0.10');
  });

  test('both nodes reach the guest: ping and TCP', async () => {
    const ip = await addressOf('inline');
    for (const node of [NODE, OTHER_NODE]) {
      expect(await onNode(node, ['ping', '-c', '1', '-W', '5', ip])).toContain('1 received');
      expect(await onNode(node, ['curl', '-sS', '-m', '10', `http://${ip}:8080/`])).toContain('hostname: named-inline');
    }
  });

  test('the guest reaches its node, the other node and another Pod', async () => {
    const controller = (await systemPods('controller'))[0] as Pod;
    expect(await inGuest('inline', 'ping -c 1 -W 5 10.99.0.11')).toContain('1 packets received');
    expect(await inGuest('inline', 'wget -qO- http://10.99.0.11:10256/healthz')).toContain('lastUpdated');
    expect(await inGuest('inline', 'wget -qO- http://10.99.0.12:10256/healthz')).toContain('lastUpdated');
    expect(await inGuest('inline', `wget -qO- http://${controller.status?.podIP}:8080/healthz`)).toBe('ok');
  });

  test('a Service leads to the VM, by its labels; the guest resolves names of the cluster', async () => {
    await kubectl(['label', 'vmi', 'inline', '-n', NAMESPACE, 'app=inline', '--overwrite']);
    await apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'inline', namespace: NAMESPACE },
      spec: { selector: { 'vm.kubevirt.io/name': 'inline' }, ports: [{ port: 80, targetPort: 8080 }] },
    });
    const service = await getObject<{ spec: { clusterIP: string } }>('service', 'inline', NAMESPACE);
    const url = `http://${service?.spec.clusterIP}/`;
    const answer = await until(
      'the Service answers',
      () => onNode(OTHER_NODE, ['curl', '-sS', '-m', '5', url]).catch(() => undefined),
      { timeoutMs: 30_000, everyMs: 500 },
    );
    expect(answer).toContain('hostname: named-inline');
    const name = `inline.${NAMESPACE}.svc.cluster.local`;
    expect(await inGuest('inline', `wget -qO- http://${name}/`)).toContain('hostname: named-inline');
  });

  test('a VM without network has none', async () => {
    expect(await inGuest('secret', 'ls /sys/class/net')).toBe('lo');
    const vmi = await getObject<VirtualMachineInstance>('vmi', 'secret', NAMESPACE);
    expect(vmi?.status?.interfaces ?? []).toEqual([]);
  });
});

const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

const addressOf = async (name: string): Promise<string> =>
  (await getObject<VirtualMachineInstance>('vmi', name, NAMESPACE))?.status?.interfaces?.[0]?.ipAddress ?? '';

/** Copies of the test guest's disk in the node's cache, of the image that the nodes know by that name now. */
async function cachedDisks(): Promise<string[]> {
  const cache = nodeVar(NODE, 'lib/virtflow/container-disks');
  const inode = await backingFile('inline');
  const all = await readdir(cache, { recursive: true, withFileTypes: true });
  const disks = all.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const inodes = await Promise.all(disks.map(async (file) => String((await stat(file)).ino)));
  return disks.filter((_, index) => inodes[index] === inode);
}

/** Inode of the file that the launcher is shown as the container disk's image. */
async function backingFile(name: string): Promise<string> {
  const vmi = await getObject<VirtualMachineInstance>('vmi', name, NAMESPACE);
  const pod = await launcherPod(vmi?.metadata?.uid ?? '', NAMESPACE);
  const stat = ['stat', '-c', '%i', containerDiskImage('root')];
  const at = ['-n', NAMESPACE, pod.metadata?.name ?? '', '-c', 'compute'];
  return (await kubectl(['exec', ...at, '--', ...stat])).trim();
}
