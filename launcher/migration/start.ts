import type { CopiedDisk } from '../../api/launcher/migration.ts';
import { migrationSocket } from '../../api/launcher/migration.ts';
import { MigrateFlag, StatsGroup } from '../libvirt/client.ts';
import type { LibvirtClient } from '../libvirt/client.ts';
import type { DomainRef, Parameter, Parameters } from '../libvirt/types.ts';
import { forHost, localDisks, sharesUncached, withMark } from './domain-xml.ts';
import type { LocalDisk } from './domain-xml.ts';
import type { SourceRecord } from './record.ts';

/** What libvirt is asked for. */
export interface MigrateCall {
  readonly destinationUri: string;
  readonly parameters: Parameter[];
  readonly flags: number;
}

const MIB = 1024 * 1024;

/** Pre-copy comes in with stopped CPUs: nobody but the hand-over lets the guest run there. libvirt refuses that together with post-copy. */
export function migrateCall(record: SourceRecord, destinationXml: string, disks: readonly LocalDisk[]): MigrateCall {
  const { options, mode } = record;
  const { bandwidth = 0 } = options;
  const postCopy = mode === 'PostCopy';
  return {
    destinationUri: `qemu+unix:///session?socket=${migrationSocket('libvirt')}`,
    parameters: [
      text('migrate_uri', `unix://${migrationSocket('memory')}`),
      text('destination_xml', destinationXml),
      ...(disks.length > 0 ? [text('disks_uri', `unix://${migrationSocket('block')}`)] : []),
      ...disks.map(({ target }) => text('migrate_disks', target)),
      ...(bandwidth > 0 ? [mibPerSecond(bandwidth)] : []),
    ],
    flags: [
      MigrateFlag.live,
      MigrateFlag.peerToPeer,
      MigrateFlag.persistDestination,
      MigrateFlag.undefineSource,
      postCopy ? MigrateFlag.postCopy : MigrateFlag.paused,
      options.allowAutoConverge ? MigrateFlag.autoConverge : 0,
      options.unsafe || sharesUncached(destinationXml) ? MigrateFlag.unsafe : 0,
      disks.length > 0 ? MigrateFlag.nonSharedIncremental : 0,
    ].reduce((all, flag) => all | flag, 0),
  };
}

const text = (name: string, value: string): Parameter => ({ name, type: 'string', value });
const mibPerSecond = (bytes: number): Parameter => ({
  name: 'bandwidth',
  type: 'ullong',
  value: BigInt(Math.max(1, Math.round(bytes / MIB))),
});

/** Has libvirt migrate; resolves when libvirt says that it is done. @throws Error, LibvirtError */
export async function startMigration(
  client: LibvirtClient,
  domain: DomainRef,
  uid: string,
  record: SourceRecord,
): Promise<void> {
  const live = await client.xml(domain, { migratable: true });
  const xml = withMark(forHost(live, record.targetCpus), { uid, guestPaused: record.guestPaused });
  const { maxDowntimeMs } = record.options;
  if (maxDowntimeMs !== undefined && record.mode === 'PreCopy') await client.setMaxDowntime(domain, maxDowntimeMs);
  const { destinationUri, parameters, flags } = migrateCall(record, xml, localDisks(live));
  await client.migrate(domain, destinationUri, parameters, flags);
}

/** Disks that have to be copied, with their virtual sizes. */
export async function copiedDisks(client: LibvirtClient, domain: DomainRef): Promise<CopiedDisk[]> {
  const disks = localDisks(await client.xml(domain));
  if (disks.length === 0) return [];
  const all = await client.allDomainStats(StatsGroup.block);
  const stats = all.find(({ domain: { name } }) => name === domain.name)?.stats ?? {};
  return disks.map(({ volume, target }) => ({ volume, size: capacityOf(stats, target) }));
}

function capacityOf(stats: Parameters, target: string): number {
  const index = Array.from({ length: Number(stats['block.count'] ?? 0) }, (_, i) => i).find(
    (i) => stats[`block.${i}.name`] === target,
  );
  const capacity = index === undefined ? undefined : stats[`block.${index}.capacity`];
  if (capacity === undefined) throw new Error(`libvirt does not tell the size of disk ${target}`);
  return Number(capacity);
}
