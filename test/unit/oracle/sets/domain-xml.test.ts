import { expect, test } from '@jest/globals';
import { toDomainXml } from '../../../../launcher/converter/index.ts';
import { compareDomain, hostOf, type DomainCase } from '../../../oracle/sets/domain-xml.ts';
import { vmi, withDevices, withDisks } from '../../launcher/converter/examples.ts';

const context: DomainCase['context'] = {
  allowEmulation: true,
  kvmAvailable: false,
  isBlockVolume: {},
  domainAttachment: {},
  freePageReporting: true,
  serialConsoleLog: true,
  bochsForEFIGuests: true,
  memBalloonStatsPeriod: 10,
  cpuSet: [],
};

/** A case whose answer is our own XML, but for one change. */
function caseOf(instance = vmi(), change = (xml: string) => xml): DomainCase {
  const testCase = { id: 'x-emul', vmi: instance, context, xml: '', preStartDisks: null };
  return { ...testCase, xml: change(toDomainXml(instance, hostOf(testCase))) };
}

test('our own answer is equal', () => {
  expect(compareDomain(caseOf())).toEqual({ kind: 'equal' });
});

test.each([
  ['a host path', (xml: string) => xml.replaceAll('/var/run/libvirt', '/elsewhere')],
  ["KubeVirt's metadata", (xml: string) => xml.replace('<uid>0b1c</uid>', '<uid/>')],
  [
    'elements that say nothing',
    (xml: string) => xml.replace('</sysinfo>', '<bios></bios><chassis></chassis></sysinfo>'),
  ],
])('%s is not compared', (_, change) => {
  expect(compareDomain(caseOf(vmi(), change))).toEqual({ kind: 'equal' });
});

test.each([
  ['a device model', 'domain/devices/video/model@type', (xml: string) => xml.replace('type="vga"', 'type="cirrus"')],
  ['memory', 'domain/memory', (xml: string) => xml.replace('134217728', '134217729')],
  ['a feature', 'domain/features/acpi', (xml: string) => xml.replace('<acpi/>', '')],
  ['a missing device', 'domain/devices/memballoon', (xml: string) => xml.replace(/<memballoon[^]*<\/memballoon>/, '')],
  ['the hypervisor', 'domain@type', (xml: string) => xml.replace('type="qemu"', 'type="kvm"')],
])('%s is compared', (_, path, change) => {
  expect(compareDomain(caseOf(vmi(), change))).toMatchObject({ kind: 'different', differences: [{ path }] });
});

test('cache modes before the start are compared', () => {
  const instance = withDisks([{ name: 'a', disk: { bus: 'virtio' } }]);
  const modes = (cache: string) =>
    compareDomain({ ...caseOf(instance), preStartDisks: [{ alias: 'a', cache, io: '' }] });
  expect(modes('none')).toEqual({ kind: 'equal' });
  expect(modes('writeback')).toMatchObject({ differences: [{ path: 'before start/a@cache', theirs: 'writeback' }] });
});

test('a listed reason explains only what it is about', () => {
  const grown = (xml: string) => xml.replace('<memory ', '<maxMemory unit="b" slots="0">1</maxMemory><memory ');
  expect(compareDomain(caseOf(vmi(), grown))).toEqual({ kind: 'listed', rules: ['no-memory-hotplug'] });
  expect(compareDomain(caseOf(vmi(), (xml) => grown(xml).replace('vga', 'qxl')))).toMatchObject({ kind: 'different' });
});

test('a missing discard is explained for preallocated claims only', () => {
  const instance = (preallocated: boolean) =>
    withDisks([{ name: 'a', disk: { bus: 'virtio' } }], undefined, {
      status: { volumeStatus: [{ name: 'a', target: '', persistentVolumeClaimInfo: { preallocated } }] },
    });
  const modes = { preStartDisks: [{ alias: 'a', cache: 'none', io: '' }] };
  const discard = (xml: string) => xml.replace('error_policy="stop"/', 'error_policy="stop" discard="unmap"/');
  const keep = (xml: string) => xml.replace(' discard="unmap"', ' discard="ignore"');
  expect(compareDomain({ ...caseOf(instance(true), discard), ...modes })).toMatchObject({ kind: 'listed' });
  expect(compareDomain({ ...caseOf(instance(false), keep), ...modes })).toMatchObject({ kind: 'different' });
});

test("KubeVirt's refusal is equal to ours only", () => {
  const { xml: _, ...refused } = caseOf();
  expect(compareDomain(refused)).toMatchObject({ kind: 'different', differences: [{ ours: 'converted' }] });
  expect(compareDomain({ ...refused, vmi: withDevices({ sound: { name: 's', model: 'gus' } }) })).toEqual({
    kind: 'equal',
  });
});

test('what the cluster configures reaches the domain', () => {
  const kubevirtConfiguration = { smbios: { manufacturer: 'Acme' } };
  expect(compareDomain({ ...caseOf(), kubevirtConfiguration })).toMatchObject({ kind: 'different' });
});

test('features that are not there yet are told, a refusal of anything else is a difference', () => {
  const answer = '<domain/>';
  const unsupported = withDevices({ autoattachVSOCK: true });
  expect(compareDomain({ ...caseOf(), vmi: unsupported, xml: answer })).toEqual({
    kind: 'uncovered',
    features: ['vsock'],
  });
  const impossible = withDevices({ sound: { name: 's', model: 'gus' } });
  const verdict = compareDomain({ ...caseOf(), vmi: impossible, xml: answer });
  expect(verdict.kind === 'different' && verdict.differences[0]?.ours).toMatch(/refused: .*sound/);
});
