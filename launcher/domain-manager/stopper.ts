import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ShutdownBy } from '../libvirt/client.ts';
import type { LibvirtDomain } from './libvirt-domain.ts';
import type { Memory } from './memory.ts';
import { killQemu } from './processes.ts';

export interface StopperOptions {
  readonly domain: LibvirtDomain;
  readonly memory: Memory;
  readonly log: Logger;
  /** libvirtd's runtime directory, with QEMU's pid file. */
  readonly runtime: string;
  readonly isActive: () => boolean;
  readonly agentConnected: () => boolean;
  /** Looks at the domain again. */
  readonly refresh: () => Promise<void>;
}

/** libvirt's own destroy may wait 10 s for QEMU; a deadline does not. */
const PATIENCE_MS = 1_000;
const AGENT_FAILED_MS = 1_000;

/** The means of ending a domain, from the gentle one to the last. What was used is remembered first: it tells later why the domain ended. */
export class Stopper {
  readonly #options: StopperOptions;
  #agentCallUnderWay = false;

  constructor(options: StopperOptions) {
    this.#options = options;
  }

  /** Guest agent if it is connected, else the ACPI power button; the button too while the agent has not answered. Never throws. */
  async signal(): Promise<void> {
    try {
      if (this.#options.agentConnected() && !this.#agentCallUnderWay) await this.#shutdownByAgent();
      else await this.#pressPowerButton();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the guest could not be asked to shut down');
    }
  }

  /** Never throws. */
  async destroyAtDeadline(): Promise<void> {
    const { memory, log, refresh } = this.#options;
    log.warn('the guest did not shut down by its deadline: destroying it');
    if (memory.now.destroying === undefined) memory.update({ destroying: 'destroyedAtDeadline' });
    try {
      await this.destroy();
      await refresh();
    } catch (error) {
      log.error({ err: error }, 'destroying the domain failed; trying again');
    }
  }

  /** Through libvirt, and by ending QEMU's process when that takes too long or libvirt is away. @throws CommandRefused */
  async destroy(): Promise<void> {
    const { domain, runtime } = this.#options;
    const impatience = setTimeout(() => killQemu(runtime, domain.name), PATIENCE_MS);
    try {
      await domain.destroy();
    } finally {
      clearTimeout(impatience);
    }
  }

  async #shutdownByAgent(): Promise<void> {
    const { domain, memory, log, isActive } = this.#options;
    memory.update({ signalled: 'agent' });
    this.#agentCallUnderWay = true;
    try {
      await domain.run((client, ref) => client.shutdown(ref, ShutdownBy.agent));
    } catch (error) {
      // A guest that goes down takes its agent along before it has answered.
      await delay(AGENT_FAILED_MS);
      if (!isActive()) return;
      log.warn({ err: error }, 'the guest agent did not take the shutdown: pressing the power button');
      this.#agentCallUnderWay = false;
      await this.#pressPowerButton();
    } finally {
      this.#agentCallUnderWay = false;
    }
  }

  async #pressPowerButton(): Promise<void> {
    const { domain, memory } = this.#options;
    if (!this.#agentCallUnderWay) memory.update({ signalled: 'acpi' });
    await domain.run((client, ref) => client.shutdown(ref, ShutdownBy.acpi));
  }
}
