import { expect, test } from '@jest/globals';
import type { Capabilities } from '../../../../../workers/node/labels/capabilities.ts';
import { parseCapabilities } from '../../../../../workers/node/labels/capabilities.ts';
import { labelChanges, nodeLabels } from '../../../../../workers/node/labels/labels.ts';

const DOMAIN = `<domainCapabilities>
  <cpu>
    <mode name='host-passthrough' supported='yes'><enum name='hostPassthroughMigratable'><value>on</value></enum></mode>
    <mode name='host-model' supported='yes'>
      <model fallback='forbid'>Skylake-Client-IBRS</model>
      <vendor>Intel</vendor>
      <feature policy='require' name='vmx'/>
      <feature policy='disable' name='hle'/>
    </mode>
    <mode name='custom' supported='yes'>
      <model usable='yes' vendor='unknown'>qemu64</model>
      <model usable='yes' vendor='Intel'>Penryn</model>
      <model usable='no' vendor='AMD'>EPYC</model>
    </mode>
  </cpu>
  <features>
    <hyperv supported='yes'>
      <enum name='features'><value>vpindex</value><value>stimer</value></enum>
    </hyperv>
  </features>
</domainCapabilities>`;
const FEATURES = `<cpu mode='custom' match='exact'>
  <model fallback='forbid'>Skylake-Client-IBRS</model>
  <feature policy='require' name='aes'/>
  <feature policy='disable' name='hle'/>
</cpu>`;
const HOST = `<capabilities><host><cpu><arch>x86_64</arch><model>Penryn</model>
  <counter name='tsc' frequency='2596124000' scaling='no'/><feature name='vme'/></cpu></host></capabilities>`;
const files = { kvm: 'usable\n', domain: DOMAIN, features: FEATURES, host: HOST, realtime: '950000\n' };

test('what libvirt and the probe say', () => {
  expect(parseCapabilities(files)).toEqual({
    kvm: { usable: true, detail: 'usable' },
    models: ['qemu64', 'Penryn'],
    hostModel: { name: 'Skylake-Client-IBRS', vendor: 'Intel', required: ['vmx'] },
    features: ['aes'],
    hyperv: ['vpindex', 'stimer'],
    tsc: { frequency: '2596124000', scalable: false },
    protections: [],
    realtime: false,
  });
});

test.each([
  ['nothing', { kvm: '', domain: '', features: '', host: '', realtime: '' }],
  ['what is no XML', { kvm: 'there is no /dev/kvm', domain: 'error: <', features: '<<', host: '{}', realtime: '' }],
])('a probe that left %s: nothing is claimed, KVM least of all', (_, left) => {
  const found = parseCapabilities(left);
  expect(found).toMatchObject({ kvm: { usable: false }, models: [], features: [], hyperv: [] });
  expect(nodeLabels(found, { obsoleteCPUModels: {} }, 'x64')['kubevirt.io/kvm']).toBe('false');
});

test.each<[string, string, string[]]>([
  ["<sev supported='no'/><s390-pv supported='no'/>", '950000', []],
  ["<sev supported='yes'><maxGuests>59</maxGuests><maxESGuests>0</maxESGuests></sev>", '', ['sev']],
  ["<sev supported='yes'><maxESGuests>450</maxESGuests></sev>", '', ['sev', 'sev-es']],
  [
    "<launchSecurity supported='yes'><enum name='sectype'><value>sev-snp</value></enum></launchSecurity>",
    '',
    ['sev-snp'],
  ],
  ["<tdx supported='yes'/><s390-pv supported='yes'/>", '', ['tdx', 's390-pv']],
  ['', '-1', ['realtime']],
])('what protects guests, and real time: %s %s', (features, realtime, expected) => {
  const domain = `<domainCapabilities><features>${features}</features></domainCapabilities>`;
  const given = nodeLabels(parseCapabilities({ ...files, domain, realtime }), { obsoleteCPUModels: {} }, 'x64');
  const kinds = ['sev', 'sev-es', 'sev-snp', 'tdx', 's390-pv', 'realtime'];
  expect(kinds.filter((kind) => given[`kubevirt.io/${kind}`] === 'true')).toEqual(expected);
});

test('what a node has lost it says no more', () => {
  const node = {
    metadata: { labels: { 'kubevirt.io/sev': 'true', 'kubevirt.io/realtime': 'true', 'kubevirt.io/kvm': 'true' } },
  };
  expect(labelChanges(node, { 'kubevirt.io/kvm': 'true' })).toEqual({
    ...{ 'kubevirt.io/sev': null, 'kubevirt.io/realtime': null },
  });
});

const found: Capabilities = parseCapabilities(files);
const labelsOf = (given: Capabilities = found, obsoleteCPUModels: Record<string, boolean> = {}): string[] =>
  Object.entries(nodeLabels(given, { obsoleteCPUModels }, 'x64'))
    .map(([label, value]) => (value === 'true' ? label : `${label}=${value}`))
    .filter((label) => !label.startsWith('machine-type.'));

test('labels by the names that KubeVirt gives them; obsolete models have none', () => {
  expect(labelsOf()).toEqual([
    'cpu-model.node.kubevirt.io/Penryn',
    'cpu-model-migration.node.kubevirt.io/Penryn',
    'cpu-model-migration.node.kubevirt.io/Skylake-Client-IBRS',
    'cpu-feature.node.kubevirt.io/aes',
    'hyperv.node.kubevirt.io/vpindex',
    'hyperv.node.kubevirt.io/synictimer',
    'host-model-cpu.node.kubevirt.io/Skylake-Client-IBRS',
    'cpu-vendor.node.kubevirt.io/Intel',
    'host-model-required-features.node.kubevirt.io/vmx',
    'cpu-timer.node.kubevirt.io/tsc-frequency=2596124000',
    'cpu-timer.node.kubevirt.io/tsc-scalable=false',
    'scheduling.node.kubevirt.io/tsc-frequency-2596124000',
    'kubevirt.io/kvm',
  ]);
});

test('the configuration names other obsolete models', () => {
  const labels = labelsOf(found, { 'Skylake-Client-IBRS': true });
  expect(labels).toContain('cpu-model.node.kubevirt.io/qemu64');
  expect(labels).toContain('node-labeller.kubevirt.io/obsolete-host-model');
  expect(labels).not.toContain('cpu-model-migration.node.kubevirt.io/Skylake-Client-IBRS');
});

test('what cannot be a label is left out', () => {
  expect(labelsOf({ ...found, features: ['a b', 'sse4.1', ''] })).toContain('cpu-feature.node.kubevirt.io/sse4.1');
  expect(labelsOf({ ...found, features: ['a b', ''] }).filter((label) => label.startsWith('cpu-feature'))).toEqual([]);
});

test('only what differs is written, and what is stale goes; labels of others stay', () => {
  const labels = {
    'cpu-model.node.kubevirt.io/Penryn': 'true',
    'cpu-model.node.kubevirt.io/Haswell': 'true',
    'kubevirt.io/kvm': 'true',
    'kubevirt.io/schedulable': 'true',
    'kubernetes.io/hostname': 'a',
  };
  const wanted = { 'cpu-model.node.kubevirt.io/Penryn': 'true', 'kubevirt.io/kvm': 'false' };
  expect(labelChanges({ metadata: { name: 'a', labels } }, wanted)).toEqual({
    'kubevirt.io/kvm': 'false',
    'cpu-model.node.kubevirt.io/Haswell': null,
  });
  expect(labelChanges(undefined, wanted)).toEqual(wanted);
});
