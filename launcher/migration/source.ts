import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isRunning } from '../domain-manager/assess.ts';
import type { LibvirtDomain } from '../domain-manager/libvirt-domain.ts';
import { isUnderWay } from '../libvirt/client.ts';
import type { LibvirtClient } from '../libvirt/client.ts';
import { DomainState } from '../libvirt/types.ts';
import type { DomainRef } from '../libvirt/types.ts';
import type { SourceRecord } from './record.ts';
import type { Evidence } from './verdict.ts';

/** virDomainPausedReason. */
const PAUSED_FOR_MIGRATION = 2;
const RETRY_MS = 200;

/** libvirt's word on the domain of a migration. */
export async function lookAtSource(domain: LibvirtDomain): Promise<Pick<Evidence, 'seen' | 'job'>> {
  try {
    const seen = await domain.observe();
    if (seen === 'absent' || seen.state === DomainState.shutoff) return { seen, job: false };
    return { seen, job: await domain.run(async (client, ref) => isUnderWay(await client.jobStats(ref))) };
  } catch {
    return { seen: undefined, job: undefined };
  }
}

/**
 * After a migration that failed libvirt resumes the guest itself, unless it was restarted meanwhile; one that was paused to converge is resumed too.
 * Tries until it is known. Never throws.
 */
export async function resumeGuest(
  domain: Pick<LibvirtDomain, 'observe' | 'run'>,
  record: SourceRecord,
  log: Pick<Logger, 'info' | 'warn'>,
  retryMs = RETRY_MS,
): Promise<void> {
  for (;;) {
    try {
      const seen = await domain.observe();
      if (seen === 'absent') return;
      if (isRunning(seen)) return await domain.run(regainDisks);
      if (seen.state !== DomainState.paused || record.guestPaused) return;
      if (seen.reason !== PAUSED_FOR_MIGRATION && record.mode !== 'Paused') return;
      await domain.run((client, ref) => client.resume(ref));
      return log.info('the guest was left paused by its migration: resumed it here');
    } catch (error) {
      log.warn({ err: error }, 'the guest is not resumed yet');
      await delay(retryMs);
    }
  }
}

/**
 * For the switch QEMU gives its disks up. When the switch fails it runs the guest again by itself, and can miss to take them back (seen with 7.2): it then
 * ends at the guest's next write or at the next migration. Told to run on, it takes them back; a guest that runs and has them does not notice. What libvirt
 * resumes is told so anyway.
 */
async function regainDisks(client: Pick<LibvirtClient, 'monitorCommand'>, domain: DomainRef): Promise<void> {
  const refusal = await client.monitorCommand(domain, 'cont');
  if (refusal !== undefined) throw new Error(`QEMU does not take its disks back: ${refusal}`);
}
