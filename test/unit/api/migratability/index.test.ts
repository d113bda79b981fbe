import { expect, test } from '@jest/globals';
import { withDefaults } from '../../../../api/defaults/index.ts';
import type { MigratabilityFacts } from '../../../../api/migratability/index.ts';
import { migratability } from '../../../../api/migratability/index.ts';
import { configured, instance, withDomain } from '../../../support/instances.ts';

const network = { defaultNetworkInterface: 'masquerade' };
const config = configured({ network });
const facts: MigratabilityFacts = { claims: { shared: ['ReadWriteMany'], own: ['ReadWriteOnce'] }, config };
const emulated: MigratabilityFacts = {
  ...facts,
  config: configured({ developerConfiguration: { useEmulation: true } }),
};

const judge = (vmi: ReturnType<typeof instance>, known = facts) => migratability(withDefaults(vmi, config), known);
const volumes = (...list: object[]) => instance({ volumes: list });
const onPodNetwork = (nic: object, metadata: object = {}) =>
  withDomain(
    { devices: { interfaces: [{ name: 'default', ...nic }] } },
    { networks: [{ name: 'default', pod: {} }] },
    metadata,
  );

test.each([
  ['a VMI with defaults', instance()],
  ['no interface at all', withDomain({ devices: { autoattachPodInterface: false } })],
  ['masquerade', onPodNetwork({ masquerade: {} })],
  [
    'bridge, with the annotation that allows it',
    onPodNetwork({ bridge: {} }, { annotations: { 'kubevirt.io/allow-pod-bridge-network-live-migration': '' } }),
  ],
  ['a shared claim', volumes({ name: 'd', persistentVolumeClaim: { claimName: 'shared' } })],
  ['a DataVolume with a shared claim', volumes({ name: 'd', dataVolume: { name: 'shared' } })],
  ['a container disk', volumes({ name: 'd', containerDisk: { image: 'i' } })],
  [
    'an overlay on a claim of one node',
    volumes({ name: 'd', ephemeral: { persistentVolumeClaim: { claimName: 'own' } } }),
  ],
  ['a shared hostDisk', volumes({ name: 'd', hostDisk: { path: '/d', type: 'Disk', shared: true } })],
  ['dedicated CPUs', withDomain({ cpu: { cores: 1, dedicatedCpuPlacement: true } })],
  ['Hyper-V passthrough that is off', withDomain({ features: { hypervPassthrough: { enabled: false } } })],
])('%s: migratable', (_, vmi) => {
  expect(judge(vmi)).toMatchObject({
    live: { type: 'LiveMigratable', status: 'True' },
    storage: { type: 'StorageLiveMigratable', status: 'True' },
  });
});

const reenlightened = withDomain({ features: { hyperv: { reenlightenment: {} } } });

test.each([
  [
    'bridge on the pod network',
    onPodNetwork({ bridge: {} }),
    'InterfaceNotLiveMigratable',
    /default .*masquerade, or annotate/,
  ],
  ['passt on the pod network', onPodNetwork({ passtBinding: {} }), 'InterfaceNotLiveMigratable', /use masquerade$/],
  ['host devices', withDomain({ devices: { hostDevices: [{ name: 'nic' }] } }), 'HostDeviceNotLiveMigratable', /nic/],
  ['GPUs', withDomain({ devices: { gpus: [{ name: 'gpu' }] } }), 'HostDeviceNotLiveMigratable', /gpu/],
  ['SEV', withDomain({ launchSecurity: { sev: {} } }), 'SEVNotLiveMigratable', /SEV/],
  ['SEV-SNP', withDomain({ launchSecurity: { snp: {} } }), 'SEVNotLiveMigratable', /SEV/],
  ['TDX', withDomain({ launchSecurity: { tdx: {} } }), 'TDXNotLiveMigratable', /TDX/],
  [
    'Secure Execution',
    withDomain({ launchSecurity: {} }, { architecture: 's390x' }),
    'SecureExecutionNotLiveMigratable',
    /Secure Execution/,
  ],
  [
    'SCSI reservations',
    withDomain({ devices: { disks: [{ name: 'lun0', lun: { reservation: true } }] } }),
    'PersistentReservationNotLiveMigratable',
    /lun0/,
  ],
  ['reenlightenment without a TSC frequency', reenlightened, 'NoTSCFrequencyNotLiveMigratable', /TSC/],
  [
    'Hyper-V passthrough',
    withDomain({ features: { hypervPassthrough: {} } }),
    'HypervPassthroughNotLiveMigratable',
    /hyperv/,
  ],
  ['virtiofs', withDomain({ devices: { filesystems: [{ name: 'home' }] } }), 'VirtIOFSNotLiveMigratable', /home/],
  [
    'a plugged volume',
    volumes({ name: 'more', persistentVolumeClaim: { claimName: 'shared', hotpluggable: true } }),
    'HotplugNotLiveMigratable',
    /more/,
  ],
  [
    "a TPM's state that is kept",
    withDomain({ devices: { tpm: { persistent: true } } }),
    'DisksNotLiveMigratable',
    /tpm\.persistent/,
  ],
  [
    'EFI variables that are kept',
    withDomain({ firmware: { bootloader: { efi: { persistent: true } } } }),
    'DisksNotLiveMigratable',
    /efi\.persistent/,
  ],
])('%s: neither alone nor with its disks', (_, vmi, reason, message) => {
  const { live, storage } = judge(vmi);
  expect(live).toMatchObject({ status: 'False', reason, message: expect.stringMatching(message) });
  expect(storage).toMatchObject({ status: 'False', reason: 'NotMigratable', message: `${reason}: ${live.message}` });
});

test.each([
  ['a claim of one node', volumes({ name: 'd', persistentVolumeClaim: { claimName: 'own' } }), /own .*ReadWriteOnce/],
  [
    'a claim that is not there',
    volumes({ name: 'd', persistentVolumeClaim: { claimName: 'lost' } }),
    /lost cannot be read/,
  ],
  ['a hostDisk of one node', volumes({ name: 'd', hostDisk: { path: '/d', type: 'Disk' } }), /hostDisk/],
])('%s: only if its disks moved along', (_, vmi, message) => {
  const { live, storage } = judge(vmi);
  expect(live).toMatchObject({
    status: 'False',
    reason: 'DisksNotLiveMigratable',
    message: expect.stringMatching(message),
  });
  expect(storage).toMatchObject({ status: 'True' });
});

test('reenlightenment with a TSC frequency that was picked', () => {
  const vmi = { ...reenlightened, status: { topologyHints: { tscFrequency: 2_400_000_000 } } };
  expect(judge(vmi).live.status).toBe('True');
});

const models = { 'cpu-model.node.kubevirt.io/Nehalem': 'true' };
test.each<[string, string, MigratabilityFacts, boolean]>([
  ['host-model', 'a node that names no model', facts, true],
  [
    'host-model',
    'a node that names models and its own',
    { ...facts, nodeLabels: { ...models, 'host-model-cpu.node.kubevirt.io/Nehalem': 'true' } },
    true,
  ],
  ['host-model', 'a node that names models and not its own', { ...facts, nodeLabels: models }, false],
  ['host-model', 'such a node, emulated', { ...emulated, nodeLabels: models }, true],
  ['Nehalem', 'a node that names models and not its own', { ...facts, nodeLabels: models }, true],
])('%s on %s', (model, _, known, isMigratable) => {
  const { live } = judge(withDomain({ cpu: { model } }), known);
  expect(live).toMatchObject(
    isMigratable ? { status: 'True' } : { status: 'False', reason: 'CPUModeNotLiveMigratable' },
  );
});

test('several obstacles: the first is the reason, all are named', () => {
  const vmi = withDomain(
    { devices: { hostDevices: [{ name: 'nic' }], gpus: [{ name: 'gpu' }] }, launchSecurity: { sev: {} } },
    { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'own' } }] },
  );
  const { live, storage } = judge(vmi);
  expect(live.reason).toBe('HostDeviceNotLiveMigratable');
  expect(live.message).toMatch(/nic, gpu; .*SEV.*; .*own/);
  expect(storage.message).toMatch(/^HostDeviceNotLiveMigratable: .*, SEVNotLiveMigratable: /);
});

test.each([
  ['a shared claim', volumes({ name: 'd', persistentVolumeClaim: { claimName: 'shared' } }), 'LiveMigration'],
  ['a container disk', volumes({ name: 'd', containerDisk: { image: 'i' } }), 'BlockMigration'],
  [
    'a container disk in a CD-ROM drive',
    withDomain(
      { devices: { disks: [{ name: 'd', cdrom: {} }] } },
      { volumes: [{ name: 'd', containerDisk: { image: 'i' } }] },
    ),
    'LiveMigration',
  ],
  ['an empty disk', volumes({ name: 'd', emptyDisk: { capacity: '1Gi' } }), 'BlockMigration'],
])('%s: %s', (_, vmi, method) => {
  expect(judge(vmi).method).toBe(method);
});
