import type { Logger } from 'pino';
import type { MigrationProgress } from '../../api/launcher/migration.ts';
import type { LibvirtDomain } from '../domain-manager/libvirt-domain.ts';
import { qemuRuns } from '../domain-manager/processes.ts';
import { CommandRefused } from '../domain-manager/refusal.ts';
import { isUnderWay } from '../libvirt/client.ts';
import { judge, startWatch } from './convergence.ts';
import type { Watch } from './convergence.ts';
import { toProgress } from './numbers.ts';
import type { SourceRecord } from './record.ts';

export interface SteeringPorts {
  readonly uid: string;
  readonly domain: LibvirtDomain;
  readonly log: Logger;
  readonly record: () => SourceRecord;
  readonly update: (change: Partial<SourceRecord>) => void;
  readonly report: (progress: MigrationProgress) => void;
  /** Bytes of memory and copied disks. */
  readonly size: () => Promise<number>;
}

/** Looks at libvirt's job and does what is due: nothing, an end, a pause of the guest, or the switch to post-copy. */
export class Steering {
  readonly #ports: SteeringPorts;
  #watch: Watch = startWatch(Date.now());
  #progress: MigrationProgress | undefined;
  #size: number | undefined;

  constructor(ports: SteeringPorts) {
    this.#ports = ports;
  }

  get progress(): MigrationProgress | undefined {
    return this.#progress;
  }

  /** An attempt begins. */
  begin(): void {
    this.#watch = startWatch(Date.now());
  }

  /** Somebody wants an end; a request of a user outweighs a limit of time. */
  stop(cause: 'aborted' | 'timeout'): void {
    if (this.#ports.record().stop !== 'aborted') this.#ports.update({ stop: cause });
    void this.#abort();
  }

  /** True while libvirt has a job. Never throws. */
  async look(attached: boolean): Promise<boolean> {
    const { domain, log, record, report } = this.#ports;
    const { switched, mode, stop } = record();
    if (switched && mode !== 'PostCopy' && !attached) return true; // Nothing to steer any more: libvirt is left alone.
    try {
      const job = await domain.run((client, ref) => client.jobStats(ref));
      if (!isUnderWay(job)) return false;
      this.#progress = toProgress(job.stats, mode);
      report(this.#progress);
      if (stop !== undefined) await this.#abort();
      else await this.#steer(this.#progress);
      return true;
    } catch (error) {
      log.debug({ err: error }, 'no job statistics');
      return qemuRuns() && !isRefused(error);
    }
  }

  async #steer(progress: MigrationProgress): Promise<void> {
    const { uid, size, log, record } = this.#ports;
    const { options, mode, postCopy } = record();
    if (postCopy) return;
    const { watch, step } = judge(this.#watch, progress, Date.now(), { options, size: (this.#size ??= await size()) });
    this.#watch = watch;
    if (step === 'wait') return;
    log.info({ migration: uid, step, mode, progress }, 'steering the migration');
    if (step === 'timeout' || step === 'restart') this.stop('timeout');
    if (step === 'pause') await this.#pause();
    if (step === 'switch') await this.#switch();
  }

  async #pause(): Promise<void> {
    const { domain, update } = this.#ports;
    update({ mode: 'Paused' });
    await domain.run((client, ref) => client.suspend(ref));
  }

  async #switch(): Promise<void> {
    const { domain, log, update } = this.#ports;
    update({ postCopy: true });
    try {
      await domain.run((client, ref) => client.startPostCopy(ref));
    } catch (error) {
      log.warn({ err: error }, 'libvirt does not switch to post-copy yet');
      if (isRefused(error)) update({ postCopy: false });
    }
  }

  async #abort(): Promise<void> {
    const { uid, domain, log, record } = this.#ports;
    const { switched, postCopy } = record();
    if (postCopy || switched) return;
    try {
      await domain.run((client, ref) => client.abortJob(ref));
    } catch (error) {
      log.info({ err: error, migration: uid }, 'nothing could be aborted (yet)');
    }
  }
}

/** libvirt answered, and said no. */
const isRefused = (error: unknown): boolean => error instanceof CommandRefused && error.kind === 'failed';
