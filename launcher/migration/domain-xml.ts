import { LAUNCHER_VOLUMES, cloudInitImage } from '../../api/launcher/paths.ts';

/** What migrations read from and put into a domain's XML, as libvirt writes it. Pure. */

const NAMESPACE = 'http://virtflow.io/migration';
const MARK = /\s*<(\w+:)?migration\b[^>]*xmlns(:\w+)?=["']http:\/\/virtflow\.io\/migration["'][^>]*\/>/;

/** Which migration brings a domain, and whether its guest was paused by a user before. Travels in the domain's metadata. */
export interface Mark {
  readonly uid: string;
  readonly guestPaused: boolean;
}

/** The XML with this mark in place of an earlier one. */
export function withMark(xml: string, { uid, guestPaused }: Mark): string {
  const guest = guestPaused ? 'paused' : 'running';
  const mark = `<virtflow:migration xmlns:virtflow="${NAMESPACE}" uid="${uid}" guest="${guest}"/>`;
  const bare = xml.replace(MARK, '');
  if (bare.includes('<metadata>')) return bare.replace('<metadata>', `<metadata>${mark}`);
  return bare.replace(/(<domain\b[^>]*>)/, `$1<metadata>${mark}</metadata>`);
}

export function markOf(xml: string): Mark | undefined {
  const mark = MARK.exec(xml)?.[0];
  const uid = mark && attribute(mark, 'uid');
  return uid === undefined ? undefined : { uid, guestPaused: attribute(mark ?? '', 'guest') === 'paused' };
}

const attribute = (element: string, name: string): string | undefined =>
  new RegExp(`\\s${name}=(["'])(.*?)\\1`).exec(element)?.[2];

/** A writable disk whose image lies in the Pod itself, so that a migration has to copy it. Read-only ones are made anew, the same byte for byte. */
export interface LocalDisk {
  readonly volume: string;
  /** The guest's device, as libvirt names it. */
  readonly target: string;
  readonly file: string;
}

const LOCAL = [`${LAUNCHER_VOLUMES.ephemeral.path}/`, cloudInitImage('').replace(/\.iso$/, '')];

export function localDisks(xml: string): LocalDisk[] {
  return [...xml.matchAll(/<disk [^]*?<\/disk>/g)].flatMap(([disk]) => {
    const element = (name: string): string => new RegExp(`<${name} [^>]*>`).exec(disk)?.[0] ?? '';
    const file = attribute(element('source'), 'file');
    const target = attribute(element('target'), 'dev');
    const volume = attribute(element('alias'), 'name')?.replace(/^ua-/, '');
    const local = file !== undefined && LOCAL.some((prefix) => file.startsWith(prefix));
    return local && !disk.includes('<readonly/>') && target !== undefined && volume !== undefined
      ? [{ volume, target, file }]
      : [];
  });
}

/**
 * Whether no host holds back what the guest wrote to disks that both Pods use. libvirt asks for more: that the path is on a network file system it knows.
 * That these are shared is known from their claims (ReadWriteMany) by whoever asks for the migration.
 */
export function sharesUncached(xml: string): boolean {
  const copied = new Set(localDisks(xml).map(({ target }) => target));
  return [...xml.matchAll(/<disk [^]*?<\/disk>/g)].every(([disk]) => {
    if (disk.includes('<readonly/>')) return true;
    const element = (name: string): string => new RegExp(`<${name} [^>]*>`).exec(disk)?.[0] ?? '';
    const target = attribute(element('target'), 'dev') ?? '';
    return copied.has(target) || ['none', 'directsync'].includes(attribute(element('driver'), 'cache') ?? '');
  });
}

/**
 * The XML for the target's host. Both Pods have the same paths and devices; only pinned CPUs are others there: each one is replaced by the target's
 * of the same rank.
 * @throws Error when the target's launcher owns fewer CPUs
 */
export function forHost(xml: string, cpuSet: readonly number[]): string {
  const pins = /<cputune>[^]*?<\/cputune>/.exec(xml)?.[0];
  if (pins === undefined) return xml;
  const here = [...new Set([...pins.matchAll(/cpuset=(["'])(.*?)\1/g)].flatMap(([, , set]) => cpus(set ?? '')))];
  const there = [...cpuSet].sort((a, b) => a - b);
  if (there.length < here.length)
    throw new Error(`the guest is pinned to ${here.length} CPUs, the target's Pod owns ${there.length}`);
  const rank = new Map(here.sort((a, b) => a - b).map((cpu, index) => [cpu, there[index]]));
  const moved = pins.replace(/cpuset=(["'])(.*?)\1/g, (_text, _quote, set: string) => {
    const list = cpus(set).map((cpu) => rank.get(cpu));
    return `cpuset='${list.join(',')}'`;
  });
  return xml.replace(pins, moved);
}

/** "0-2,5" -> [0, 1, 2, 5]. */
function cpus(set: string): number[] {
  return set.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
