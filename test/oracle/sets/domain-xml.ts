import type { HostFacts, HostNumaCell } from '../../../api/launcher/host-facts.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { withDiskModes, type StorageProbe } from '../../../launcher/converter/disk-modes.ts';
import type { Domain } from '../../../launcher/converter/domain.ts';
import { ConversionError, toDomain } from '../../../launcher/converter/index.ts';
import { unknownFeatures } from '../../../launcher/converter/unsupported.ts';
import { writeXml } from '../../../launcher/converter/xml.ts';
import { configurationOf, type Departures } from '../configuration.ts';
import type { OracleSet } from '../oracle-set.ts';
import { judge, type Difference, type Verdict } from '../verdict.ts';
import { compareTrees, compareValues, mapTree, parseXml, type Element } from '../xml-tree.ts';

/** A case of the set domain-xml; the form is described beside the reference answers. */
export interface DomainCase extends Departures {
  id: string;
  vmi: VirtualMachineInstance;
  context: {
    allowEmulation: boolean;
    kvmAvailable: boolean;
    isBlockVolume: Record<string, boolean>;
    domainAttachment: HostFacts['domainAttachment'];
    freePageReporting: boolean;
    serialConsoleLog: boolean;
    bochsForEFIGuests: boolean;
    memBalloonStatsPeriod: number;
    cpuSet: number[];
  };
  /** Absent: KubeVirt refused to convert. */
  xml?: string;
  preStartDisks: { alias: string; cache: string; io: string }[] | null;
}

/** The host of the reference answers: two cells of eight CPUs, two threads a core. */
const HOST_CELLS: HostNumaCell[] = [0, 1].map((id) => ({
  id,
  cpus: Array.from({ length: 8 }, (_, index) => {
    const cpu = id * 8 + index;
    const first = cpu - (cpu % 2);
    return { id: cpu, siblings: [first, first + 1] };
  }),
}));

/** File systems of the reference answers: direct IO everywhere, nothing allocated in advance. */
const STORAGE: StorageProbe = { directIo: () => true, preallocated: () => false };

export function hostOf(testCase: Omit<DomainCase, 'xml' | 'preStartDisks'>): HostFacts {
  const { vmi, context } = testCase;
  const formats = (vmi.spec.volumes ?? []).map(({ name, ephemeral }) => [name, ephemeral ? 'raw' : 'qcow2'] as const);
  return {
    useEmulation: context.allowEmulation,
    kvmAvailable: context.kvmAvailable,
    memBalloonStatsPeriod: context.memBalloonStatsPeriod,
    serialConsoleLog: context.serialConsoleLog,
    freePageReporting: context.freePageReporting,
    bochsForEFIGuests: context.bochsForEFIGuests,
    cpuSet: context.cpuSet,
    isBlockVolume: context.isBlockVolume,
    domainAttachment: context.domainAttachment,
    numaCells: HOST_CELLS,
    backingFormats: Object.fromEntries(formats),
    smbios: configurationOf(testCase).smbios,
  };
}

const PATH = '(path)';

/** Elements whose text is a path of the host. */
const PATH_TEXTS = [
  'domain/os/kernel',
  'domain/os/initrd',
  'domain/os/loader',
  'domain/os/nvram',
  'domain/os/acpi/table',
];
/** Attributes that hold one. */
const PATH_ATTRIBUTES = ['file', 'dev', 'path', 'socket', 'template', 'logFile'];
const holdsPaths = (element: Element): boolean =>
  ['source', 'listen', 'log', 'nvram', 'backend'].includes(element.name);

/**
 * What no guest and no host can feel: KubeVirt's own metadata, what is added to either XML by the network set-up, and notes about a claim's size that are
 * no elements of libvirt.
 */
const NOT_COMPARED = [
  'domain/metadata',
  'domain/devices/interface/target',
  'domain/devices/interface/mtu',
  'domain/devices/disk/capacity',
  'domain/devices/disk/filesystemOverhead',
];
/** Elements that libvirt drops when they are empty. */
const NOTHING_IF_EMPTY = [
  'domain/sysinfo/bios',
  'domain/sysinfo/baseBoard',
  'domain/sysinfo/chassis',
  'domain/sysinfo/system/entry',
  'domain/sysinfo/chassis/entry',
  'domain/devices/interface/source',
  'domain/devices/disk/source',
];

/** Brings a domain's XML into the form in which two of them are compared. */
export const comparable = (xml: string): Element | undefined =>
  mapTree(parseXml(xml), (element, path) => {
    if (NOT_COMPARED.includes(path)) return undefined;
    if (NOTHING_IF_EMPTY.includes(path) && isEmpty(element)) return undefined;
    const attributes = Object.entries(element.attributes).flatMap(([name, value]) => {
      if (name.startsWith('xmlns')) return [];
      return [[name, holdsPaths(element) && PATH_ATTRIBUTES.includes(name) ? PATH : value]];
    });
    return {
      ...element,
      attributes: Object.fromEntries(attributes) as Record<string, string>,
      text: PATH_TEXTS.includes(path) ? PATH : element.text,
    };
  });

const isEmpty = ({ name, attributes, text, children }: Element): boolean =>
  text === '' && children.length === 0 && (name === 'entry' || Object.keys(attributes).length === 0);

/** Cache and IO modes after the last step before the start, by disk. */
function compareModes(domain: Domain, theirs: DomainCase['preStartDisks']): Difference[] {
  const modes = (
    disks: { alias: string; cache: string | undefined; io: string | undefined }[],
  ): Record<string, string> =>
    Object.fromEntries(
      disks.flatMap(({ alias, cache, io }) => [
        [`${alias}@cache`, cache ?? ''],
        [`${alias}@io`, io ?? ''],
      ]),
    );
  const ours = (domain.devices.disk ?? []).map(({ alias, driver }) => ({
    alias: alias['@name'].replace(/^ua-/, ''),
    cache: driver['@cache'],
    io: driver['@io'],
  }));
  return compareValues(modes(ours), modes(theirs ?? []), (key) => `before start/${key}`);
}

/**
 * The VMI as the reference answers saw it: which claims are preallocated is told to KubeVirt's launcher by its node agent, which had no part in them.
 * virtflow reads it from the status.
 */
const asTold = (vmi: VirtualMachineInstance): VirtualMachineInstance => {
  const told = vmi.status?.volumeStatus?.map(({ persistentVolumeClaimInfo: claim, ...volume }) =>
    claim === undefined ? volume : { ...volume, persistentVolumeClaimInfo: { ...claim, preallocated: false } },
  );
  return told === undefined ? vmi : { ...vmi, status: { ...vmi.status, volumeStatus: told } };
};

export function compareDomain(given: DomainCase): Verdict {
  const testCase = { ...given, vmi: asTold(given.vmi) };
  const unsupported = unknownFeatures(testCase.vmi);
  if (unsupported.length > 0) return { kind: 'uncovered', features: unsupported.map(({ name }) => name) };
  if (testCase.xml === undefined) return compareRefusal(testCase);
  try {
    const domain = toDomain(testCase.vmi, hostOf(testCase));
    const differences = [
      ...compareTrees(comparable(writeXml(domain)), comparable(testCase.xml), 'domain'),
      ...compareModes(withDiskModes(domain, STORAGE), testCase.preStartDisks),
    ];
    return judge(differences, testCase, []);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    return judge([{ path: 'domain', ours: `refused: ${error.message}`, theirs: 'converted' }], testCase, []);
  }
}

/** KubeVirt could not convert the VMI: neither may we. */
function compareRefusal(testCase: DomainCase): Verdict {
  try {
    toDomain(testCase.vmi, hostOf(testCase));
    return judge([{ path: 'domain', ours: 'converted', theirs: 'refused' }], testCase, []);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    return { kind: 'equal' };
  }
}

/** Two sets of one file: hosts without KVM, which virtflow is tested on, and hosts with it. */
const domainSet = (name: string, suffix: string): OracleSet => ({
  name,
  file: 'domain-xml.json',
  ruleIds: [],
  judge: (testCase) => {
    const domainCase = testCase as DomainCase;
    return domainCase.id.endsWith(suffix) ? compareDomain(domainCase) : undefined;
  },
});

export const domainXmlEmulated = domainSet('domain-xml (emulation)', '-emul');
export const domainXmlKvm = domainSet('domain-xml (KVM)', '-kvm');
