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
}

/** Reads what the probe wrote. Without it nothing is known, and KVM is not used. */
export const readCapabilities = async (directory: string): Promise<Capabilities> => {
  const read = (name: string): Promise<string> => readFile(join(directory, name), 'utf8').catch(() => '');
  const [kvm, domain, features, host] = await Promise.all([
    read('kvm'),
    read('domain.xml'),
    read('features.xml'),
    read('host.xml'),
  ]);
  return parseCapabilities({ kvm, domain, features, host });
};

type Attributes = Record<string, string | undefined>;
type Valued = Attributes & { '#text'?: string };

interface Documents {
  domainCapabilities?: {
    cpu?: { mode?: (Attributes & { model?: (Valued | string)[]; vendor?: string; feature?: Attributes[] })[] };
    features?: { hyperv?: Attributes & { enum?: (Attributes & { value?: string[] })[] } };
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
}): Capabilities => {
  const { cpu, features } = parse(files.domain).domainCapabilities ?? {};
  const modes = cpu?.mode ?? [];
  const custom = modes.find((mode) => mode['@name'] === 'custom')?.model ?? [];
  const hostModel = modes.find((mode) => mode['@name'] === 'host-model' && mode['@supported'] === 'yes');
  const [name] = (hostModel?.model ?? []).map(textOf);
  const enlightenments = features?.hyperv?.enum?.find((one) => one['@name'] === 'features')?.value ?? [];
  const tsc = parse(files.host).capabilities?.host?.cpu?.counter?.find((counter) => counter['@name'] === 'tsc');
  const detail = files.kvm.trim();
  return {
    kvm: { usable: detail === 'usable', detail: detail === '' ? 'it was not looked for' : detail },
    models: custom.filter((model) => typeof model === 'object' && model['@usable'] === 'yes').map(textOf),
    ...(name === undefined || hostModel === undefined
      ? {}
      : { hostModel: { name, vendor: hostModel.vendor ?? '', required: required(hostModel.feature) } }),
    features: required(parse(files.features).cpu?.feature),
    hyperv: enlightenments,
    ...(tsc?.['@frequency'] === undefined
      ? {}
      : { tsc: { frequency: tsc['@frequency'], scalable: tsc['@scaling'] === 'yes' } }),
  };
};

const textOf = (value: Valued | string): string => (typeof value === 'string' ? value : (value['#text'] ?? ''));

const required = (features: Attributes[] = []): string[] =>
  features.filter((one) => one['@policy'] === 'require').flatMap((one) => one['@name'] ?? []);
