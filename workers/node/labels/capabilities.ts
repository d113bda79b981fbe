import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { XMLParser } from 'fast-xml-parser';

/** What guests can have on this node, as the probe in the launcher's image found it (launcher/node-probe/probe.sh). What it did not find is empty. */
export interface Capabilities {
  kvm: { usable: boolean; detail: string };
  /** CPU models that guests can have. */
  models: string[];
  /** What host-model stands for here. */
  hostModel?: { name: string; vendor: string; required: string[] };
  /** CPU features that guests can have. */
  features: string[];
  /** Enlightenments of Hyper-V. */
  hyperv: string[];
  tsc?: { frequency: string; scalable: boolean };
  /** What can protect a guest's memory from its host. */
  protections: Protection[];
  /** The kernel does not take time away from real-time vCPUs. */
  realtime: boolean;
}

export const PROTECTIONS = ['sev', 'sev-es', 'sev-snp', 'tdx', 's390-pv'] as const;
export type Protection = (typeof PROTECTIONS)[number];

/** Microseconds of each second that real-time tasks may have; -1: all. */
const REALTIME_RUNTIME = '/proc/sys/kernel/sched_rt_runtime_us';

/** Reads what the probe wrote. Without it nothing is known, and KVM is not used. */
export const readCapabilities = async (directory: string): Promise<Capabilities> => {
  const read = (name: string): Promise<string> => readFile(join(directory, name), 'utf8').catch(() => '');
  const [kvm, domain, features, host, realtime] = await Promise.all([
    read('kvm'),
    read('domain.xml'),
    read('features.xml'),
    read('host.xml'),
    readFile(REALTIME_RUNTIME, 'utf8').catch(() => ''),
  ]);
  return parseCapabilities({ kvm, domain, features, host, realtime });
};

type Attributes = Record<string, string | undefined>;
type Valued = Attributes & { '#text'?: string };

type Enumerated = Attributes & { enum?: (Attributes & { value?: string[] })[] };

interface Documents {
  domainCapabilities?: {
    cpu?: { mode?: (Attributes & { model?: (Valued | string)[]; vendor?: string; feature?: Attributes[] })[] };
    features?: {
      hyperv?: Enumerated;
      sev?: Attributes & { maxESGuests?: string };
      's390-pv'?: Attributes;
      tdx?: Attributes;
      launchSecurity?: Enumerated;
    };
  };
  cpu?: { feature?: Attributes[] };
  capabilities?: { host?: { cpu?: { counter?: Attributes[] } } };
}

const LISTS = new Set(['mode', 'model', 'feature', 'counter', 'enum', 'value']);

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  isArray: (name) => LISTS.has(name),
});

const parse = (xml: string): Documents => {
  try {
    return parser.parse(xml) as Documents;
  } catch {
    return {};
  }
};

/** Pure. Takes the contents of the probe's files, '' for one that is missing. */
export const parseCapabilities = (files: {
  kvm: string;
  domain: string;
  features: string;
  host: string;
  realtime: string;
}): Capabilities => {
  const { cpu, features } = parse(files.domain).domainCapabilities ?? {};
  const modes = cpu?.mode ?? [];
  const custom = modes.find((mode) => mode['@name'] === 'custom')?.model ?? [];
  const hostModel = modes.find((mode) => mode['@name'] === 'host-model' && mode['@supported'] === 'yes');
  const [name] = (hostModel?.model ?? []).map(textOf);
  const tsc = parse(files.host).capabilities?.host?.cpu?.counter?.find((counter) => counter['@name'] === 'tsc');
  const detail = files.kvm.trim();
  return {
    kvm: { usable: detail === 'usable', detail: detail === '' ? 'it was not looked for' : detail },
    models: custom.filter((model) => typeof model === 'object' && model['@usable'] === 'yes').map(textOf),
    ...(name === undefined || hostModel === undefined
      ? {}
      : { hostModel: { name, vendor: hostModel.vendor ?? '', required: required(hostModel.feature) } }),
    features: required(parse(files.features).cpu?.feature),
    hyperv: values(features?.hyperv, 'features'),
    protections: protectionsOf(features),
    realtime: files.realtime.trim() === '-1',
    ...(tsc?.['@frequency'] === undefined
      ? {}
      : { tsc: { frequency: tsc['@frequency'], scalable: tsc['@scaling'] === 'yes' } }),
  };
};

/** libvirt's word: it asks QEMU, which asks the kernel. */
const protectionsOf = (features: NonNullable<Documents['domainCapabilities']>['features'] = {}): Protection[] => {
  const { sev, tdx, 's390-pv': pv, launchSecurity } = features;
  const kinds = values(launchSecurity, 'sectype');
  const has: Record<Protection, boolean> = {
    sev: isSupported(sev),
    'sev-es': isSupported(sev) && Number(sev?.maxESGuests ?? 0) > 0,
    'sev-snp': kinds.includes('sev-snp'),
    tdx: isSupported(tdx) || kinds.includes('tdx'),
    's390-pv': isSupported(pv),
  };
  return PROTECTIONS.filter((kind) => has[kind]);
};

const isSupported = (element: Attributes | undefined): boolean => element?.['@supported'] === 'yes';

/** Values of an enumeration that an element holds. */
const values = (element: Enumerated | undefined, name: string): string[] =>
  element?.enum?.find((one) => one['@name'] === name)?.value ?? [];

const textOf = (value: Valued | string): string => (typeof value === 'string' ? value : (value['#text'] ?? ''));

const required = (features: Attributes[] = []): string[] =>
  features.filter((one) => one['@policy'] === 'require').flatMap((one) => one['@name'] ?? []);
