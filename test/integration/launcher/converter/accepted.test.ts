import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INITRD_IMAGE, KERNEL_IMAGE, LAUNCHER_VOLUMES, SERIAL_LOG } from '../../../../api/launcher/paths.ts';
import type { VirtualMachineInstance } from '../../../../api/kubevirt/types.ts';
import { toDomainXml } from '../../../../launcher/converter/index.ts';
import { LibvirtClient } from '../../../../launcher/libvirt/client.ts';
import { giveToUnprivileged, startPrivateLibvirtd, type PrivateLibvirtd } from '../../../support/libvirtd.ts';
import { copyTestGuest, FAST_BOOT, type GuestFiles } from '../../../support/test-guest.ts';
import { until } from '../../../support/until.ts';
import { host, vmi, withDevices, withDisks } from '../../../unit/launcher/converter/examples.ts';

jest.setTimeout(120_000);

let libvirtd: PrivateLibvirtd;
let client: LibvirtClient;
let guest: GuestFiles;

beforeAll(async () => {
  libvirtd = await startPrivateLibvirtd();
  guest = copyTestGuest(join(libvirtd.paths.base, 'guest'));
  client = await LibvirtClient.connect({
    socketPath: libvirtd.socketPath,
    uri: 'qemu:///session',
    onEvent: () => undefined,
  });
});

afterAll(async () => {
  await client.close();
  await libvirtd.dispose();
});

/** The Pod's directory in a directory of the test's. */
const inTest = (path: string): string => join(libvirtd.paths.base, 'pod', path);

/** The XML with the Pod's directories moved below the test's. */
function xmlInTest(instance: VirtualMachineInstance, facts = host()): string {
  const placed = [
    [KERNEL_IMAGE, guest.kernel],
    [INITRD_IMAGE, guest.initrd],
    ...Object.values(LAUNCHER_VOLUMES).map(({ path }) => [path, inTest(path)]),
  ] as [string, string][];
  return placed.reduce((xml, [path, here]) => xml.replaceAll(path, here), toDomainXml(instance, facts));
}

const disk = (name: string, bus: string, rest: object = {}) => ({ name, disk: { bus }, ...rest });

const everyDisk = withDisks(
  [
    disk('image', 'virtio', { bootOrder: 1, dedicatedIOThread: true }),
    disk('data', 'sata', { serial: 'S1', cache: 'writethrough' }),
    disk('scratch', 'scsi'),
    disk('seed', 'usb'),
    disk('raw', 'virtio', { shareable: true }),
    { name: 'media', cdrom: { bus: 'sata', tray: 'closed' } },
    { name: 'tray', cdrom: { bus: 'sata' } },
    { name: 'lun', lun: { bus: 'scsi' } },
  ],
  [
    { name: 'image', containerDisk: { image: 'x' } },
    { name: 'data', persistentVolumeClaim: { claimName: 'x' } },
    { name: 'scratch', emptyDisk: { capacity: '1Mi' } },
    { name: 'seed', cloudInitNoCloud: { userData: 'x' } },
    { name: 'raw', dataVolume: { name: 'x' } },
    { name: 'media', ephemeral: { persistentVolumeClaim: { claimName: 'x' } } },
    { name: 'lun', persistentVolumeClaim: { claimName: 'y' } },
  ],
);

test.each<[string, VirtualMachineInstance, Parameters<typeof host>[0]]>([
  ['nothing but memory', vmi(), {}],
  ['every kind of disk', everyDisk, { isBlockVolume: { raw: true, lun: true }, backingFormats: { image: 'qcow2' } }],
  [
    'disks with IO threads and queues',
    withDisks([disk('a', 'virtio'), disk('b', 'virtio'), disk('c', 'scsi', { dedicatedIOThread: true })], undefined, {
      domain: { ioThreadsPolicy: 'auto', cpu: { sockets: 2, cores: 2 }, devices: { blockMultiQueue: true } },
    }),
    {},
  ],
  [
    'interfaces',
    withDevices(
      {
        networkInterfaceMultiqueue: true,
        interfaces: [
          { name: 'a', masquerade: {}, macAddress: '02:00:00:00:00:01', bootOrder: 1 },
          { name: 'b', bridge: {}, model: 'e1000e', state: 'down', acpiIndex: 3 },
        ],
      },
      {
        spec: {
          networks: [
            { name: 'a', pod: {} },
            { name: 'b', multus: { networkName: 'x' } },
          ],
        },
        domain: { cpu: { sockets: 2 } },
      },
    ),
    { mtu: 1400 },
  ],
  [
    'CPUs to be plugged in, named model and features',
    vmi({
      domain: {
        cpu: { sockets: 1, cores: 2, maxSockets: 4, model: 'Nehalem', features: [{ name: 'aes', policy: 'require' }] },
      },
    }),
    {},
  ],
  [
    'memory with room to grow',
    vmi({ domain: { cpu: { sockets: 1, cores: 2, maxSockets: 4 }, memory: { guest: '1Gi', maxGuest: '4Gi' } } }),
    {},
  ],
  [
    'memory in huge pages with room to grow',
    vmi({ domain: { memory: { guest: '1Gi', maxGuest: '4Gi', hugepages: { pageSize: '2Mi' } } } }),
    {},
  ],
  ['memory that is as much as it may be', vmi({ domain: { memory: { guest: '1Gi', maxGuest: '1Gi' } } }), {}],
  [
    'dedicated CPUs on a passed-through NUMA topology',
    vmi({
      domain: {
        cpu: {
          cores: 1,
          dedicatedCpuPlacement: true,
          isolateEmulatorThread: true,
          numa: { guestMappingPassthrough: {} },
        },
        memory: { guest: '64Mi', hugepages: { pageSize: '2Mi' } },
      },
    }),
    { cpuSet: [0, 1], numaCells: [{ id: 0, cpus: [0, 1].map((id) => ({ id, siblings: [id] })) }] },
  ],
  [
    'firmware, features and timers',
    vmi({
      domain: {
        firmware: {
          uuid: '4dd2a1f0-86b8-4a3e-9a0e-6c2a3f4b5d6e',
          serial: 'S1',
          bootloader: { efi: { secureBoot: true } },
        },
        chassis: { manufacturer: 'Acme', asset: 'a-1' },
        features: {
          smm: {},
          apic: {},
          kvm: { hidden: true },
          pvspinlock: { enabled: false },
          hyperv: {
            relaxed: {},
            vapic: {},
            spinlocks: { spinlocks: 8191 },
            vpindex: {},
            runtime: {},
            synic: {},
            synictimer: { direct: {} },
          },
        },
        clock: {
          timezone: 'Europe/Paris',
          timer: {
            rtc: { tickPolicy: 'catchup' },
            pit: { tickPolicy: 'delay' },
            hpet: { present: false },
            kvm: {},
            hyperv: {},
          },
        },
        rebootPolicy: 'Terminate',
      },
      spec: { startStrategy: 'Paused' },
    }),
    {},
  ],
  [
    'every other device',
    withDevices({
      rng: {},
      sound: { name: 's' },
      watchdog: { name: 'w', i6300esb: { action: 'reset' } },
      inputs: [{ name: 'i', type: 'tablet', bus: 'usb' }],
      panicDevices: [{ model: 'isa' }],
      clientPassthrough: {},
      video: { type: 'virtio' },
    }),
    {},
  ],
  [
    'devices on the root complex',
    withDisks([disk('a', 'virtio')], undefined, {
      metadata: { name: 'r', annotations: { 'kubevirt.io/placePCIDevicesOnRootComplex': 'true' } },
    }),
    {},
  ],
])('libvirt accepts %s', async (_, instance, facts) => {
  const domain = await client.define(xmlInTest(instance, host(facts)));
  await client.undefine(domain);
});

test("libvirt takes the domain's UUID from the firmware's", async () => {
  const uuid = '4dd2a1f0-86b8-4a3e-9a0e-6c2a3f4b5d6e';
  const domain = await client.define(xmlInTest(vmi({ domain: { firmware: { uuid } } })));
  expect(await client.xml(domain)).toContain(`<uuid>${uuid}</uuid>`);
  await client.undefine(domain);
});

test('a guest boots without KVM: agent, console, disks in their places', async () => {
  for (const { path } of Object.values(LAUNCHER_VOLUMES)) mkdirSync(inTest(path), { recursive: true });
  const instance = withDisks(
    [disk('image', 'virtio'), disk('scratch', 'scsi')],
    [
      { name: 'image', containerDisk: { image: 'x' } },
      { name: 'scratch', emptyDisk: { capacity: '16Mi' } },
    ],
    {
      domain: {
        memory: { guest: '160Mi', maxGuest: '640Mi' },
        cpu: { sockets: 1, cores: 1, threads: 1, maxSockets: 2, model: 'host-model' },
        firmware: {
          kernelBoot: {
            container: { image: 'x', kernelPath: '/vmlinuz', initrdPath: '/initrd' },
            kernelArgs: FAST_BOOT,
          },
        },
        devices: { rng: {} },
      },
    },
  );
  const image = (...args: string[]) => execFileSync('qemu-img', ['create', '-q', '-f', ...args]);
  const xml = xmlInTest(instance);
  const [overlay, scratch] = [...xml.matchAll(/<source file="([^"]+)"/g)].map(([, path]) => path ?? '');
  image('raw', inTest('base.img'), '16M');
  image('qcow2', '-b', inTest('base.img'), '-F', 'raw', overlay ?? '');
  image('qcow2', scratch ?? '', '16M');
  giveToUnprivileged(inTest(''));

  const domain = await client.define(xml);
  try {
    await client.create(domain);
    await until(
      'the guest agent answers',
      () =>
        client.agentCommand(domain, 'guest-ping').then(
          () => true,
          () => false,
        ),
      {
        timeoutMs: 60_000,
        everyMs: 200,
      },
    );
    expect(await client.agentCommand(domain, 'guest-get-osinfo')).toMatchObject({ id: expect.any(String) as unknown });
    expect(readFileSync(inTest(SERIAL_LOG), 'utf8').length).toBeGreaterThan(0);
    const started = await client.xml(domain);
    expect(started).toContain("<target dev='vda' bus='virtio'/>");
    expect(started).toContain("<target dev='sda' bus='scsi'/>");
    expect(started).toContain(inTest('base.img'));
  } finally {
    await client.destroy(domain).catch(() => undefined);
    await client.undefine(domain);
  }
});
