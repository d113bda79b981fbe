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
  ["KubeVirt's notes about a claim", (xml: string) => xml.replace('</disk>', '<capacity>1</capacity></disk>')],
  [
    'elements that say nothing',
    (xml: string) => xml.replace('</sysinfo>', '<bios></bios><chassis></chassis></sysinfo>'),
  ],
])('%s is not compared', (_, change) => {
  const instance = withDisks([{ name: 'a', disk: { bus: 'virtio' } }]);
  const preStartDisks = [{ alias: 'a', cache: 'none', io: '' }];
  expect(compareDomain({ ...caseOf(instance, change), preStartDisks })).toEqual({ kind: 'equal' });
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

test('the reference answers know of no preallocated claim, whatever the status says', () => {
  const instance = withDisks([{ name: 'a', disk: { bus: 'virtio' } }], undefined, {
    status: { volumeStatus: [{ name: 'a', target: '', persistentVolumeClaimInfo: { preallocated: true } }] },
  });
  const modes = { preStartDisks: [{ alias: 'a', cache: 'none', io: '' }] };
  const discard = (xml: string) => xml.replace('error_policy="stop"/', 'error_policy="stop" discard="unmap"/');
  expect(compareDomain({ ...caseOf(instance, discard), ...modes })).toEqual({ kind: 'equal' });
  expect(compareDomain({ ...caseOf(instance), ...modes })).toMatchObject({ kind: 'different' });
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
  const unsupported = withDevices({ gpus: [{ name: 'g', deviceName: 'x' }] });
  expect(compareDomain({ ...caseOf(), vmi: unsupported, xml: answer })).toEqual({
    kind: 'uncovered',
    features: ['GPU'],
  });
  const impossible = withDevices({ sound: { name: 's', model: 'gus' } });
  const verdict = compareDomain({ ...caseOf(), vmi: impossible, xml: answer });
  expect(verdict.kind === 'different' && verdict.differences[0]?.ours).toMatch(/refused: .*sound/);
});
