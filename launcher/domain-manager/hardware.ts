import { readFileSync, statSync } from 'node:fs';
import { LAUNCHER_VOLUMES } from '../../api/launcher/paths.ts';
import type { DomainHardware } from '../../api/launcher/reports.ts';

/** libvirt's units of memory, in bytes; it writes KiB. */
const UNITS: Record<string, number> = { b: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** What the domain's XML (libvirt's own, not what it was made of) says of the guest's hardware. @param sizeOf bytes of a file */
export const hardwareOf = (
  xml: string,
  sizeOf: (path: string) => number | undefined = madeSize,
): Omit<DomainHardware, 'selinuxContext'> => {
  const machine = /<type [^>]*machine='([^']+)'/.exec(xml)?.[1];
  const [, unit = 'KiB', amount] = /<currentMemory(?: unit='([^']+)')?>(\d+)</.exec(xml) ?? [];
  return {
    ...(machine === undefined ? {} : { machine }),
    ...(amount === undefined ? {} : { memoryBytes: Number(amount) * (UNITS[unit] ?? 1) }),
    disks: Object.fromEntries([...xml.matchAll(/<disk [^]*?<\/disk>/g)].flatMap(([disk]) => diskOf(disk, sizeOf))),
    interfaces: Object.fromEntries(
      [...xml.matchAll(/<interface [^]*?<\/interface>/g)].flatMap(([nic]) => interfaceOf(nic)),
    ),
  };
};

const diskOf = (
  xml: string,
  sizeOf: (path: string) => number | undefined,
): [string, NonNullable<DomainHardware['disks']>[string]][] => {
  const name = nameOf(xml);
  const target = /<target dev='([^']+)'/.exec(xml)?.[1];
  if (name === undefined || target === undefined) return [];
  const file = /<source file='([^']+)'/.exec(xml)?.[1];
  const size = file === undefined ? undefined : sizeOf(file);
  return [[name, { target, ...(size === undefined ? {} : { size }) }]];
};

const interfaceOf = (xml: string): [string, NonNullable<DomainHardware['interfaces']>[string]][] => {
  const name = nameOf(xml);
  if (name === undefined) return [];
  const mac = /<mac address='([^']+)'/.exec(xml)?.[1];
  const queues = /<driver [^>]*queues='(\d+)'/.exec(xml)?.[1];
  const link = /<link state='([^']+)'/.exec(xml)?.[1];
  return [
    [
      name,
      {
        ...(mac === undefined ? {} : { mac }),
        ...(queues === undefined ? {} : { queues: Number(queues) }),
        ...(link === undefined ? {} : { link }),
      },
    ],
  ];
};

/** Name of a device in the VMI's spec. */
const nameOf = (xml: string): string | undefined => /<alias name='ua-([^']+)'/.exec(xml)?.[1];

/** Bytes of an image that the launcher itself has made; other files are the user's, and grow. */
const madeSize = (path: string): number | undefined =>
  path.startsWith(`${LAUNCHER_VOLUMES.private.path}/`) && path.endsWith('.iso')
    ? statSync(path, { throwIfNoEntry: false })?.size
    : undefined;

/** SELinux context of this process, as its own kernel has it; "none" where another security module answers, or none. */
export const selinuxContext = (read: () => string = () => readFileSync('/proc/self/attr/current', 'utf8')): string => {
  try {
    const context = read().replaceAll('\0', '').trim();
    return /^\w+:\w+:\w+:\S+$/.test(context) ? context : 'none';
  } catch {
    return 'none';
  }
};
