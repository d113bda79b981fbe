import type { LibvirtClient } from '../libvirt/client.ts';
import { isConnectionLost, isNoDomain, isOperationInvalid } from '../libvirt/errors.ts';
import type { LibvirtSession } from '../libvirt/session.ts';
import type { DomainRef } from '../libvirt/types.ts';
import type { Observation } from './assess.ts';
import { CommandRefused } from './refusal.ts';

/** Longer than s6 and libvirtd need to come back, shorter than a caller's deadline. */
const LIBVIRT_WAIT_MS = 3_000;

/** The one domain of this launcher, reached through whatever connection there is. Throws CommandRefused. */
export class LibvirtDomain {
  readonly name: string;
  readonly #session: LibvirtSession;

  constructor(name: string, session: LibvirtSession) {
    this.name = name;
    this.#session = session;
  }

  async observe(): Promise<Observation> {
    return this.#use(async (client) => {
      try {
        return await client.state(await client.lookup(this.name));
      } catch (error) {
        if (isNoDomain(error)) return 'absent';
        throw error;
      }
    });
  }

  /** Has libvirt find out what it needs to know before it defines a domain. */
  async warmUp(): Promise<void> {
    await this.#use((client) => client.domainCapabilities());
  }

  /** @throws CommandRefused `invalid`: the same XML will be refused again */
  define(xml: string): Promise<DomainRef> {
    return this.#use(async (client) => {
      try {
        return await client.define(xml);
      } catch (error) {
        if (isConnectionLost(error)) throw error;
        throw new CommandRefused('invalid', messageOf(error), error);
      }
    });
  }

  /** Runs an operation on the domain. */
  run<T>(operation: (client: LibvirtClient, domain: DomainRef) => Promise<T>): Promise<T> {
    return this.#use(async (client) => operation(client, await client.lookup(this.name)));
  }

  /** Ends QEMU. No domain, or one that does not run: success. */
  async destroy(): Promise<void> {
    try {
      await this.run((client, domain) => client.destroy(domain));
    } catch (error) {
      const cause = causeOf(error);
      // libvirt also says "not running" when QEMU's end came before its own destroy was through.
      if (!isNoDomain(cause) && !isOperationInvalid(cause)) throw error;
    }
  }

  /** Forgets the definition. No domain: success. */
  async undefine(): Promise<void> {
    try {
      await this.run((client, domain) => client.undefine(domain));
    } catch (error) {
      if (!isNoDomain(causeOf(error))) throw error;
    }
  }

  async #use<T>(operation: (client: LibvirtClient) => Promise<T>): Promise<T> {
    try {
      return await operation(await this.#session.client(LIBVIRT_WAIT_MS));
    } catch (error) {
      if (error instanceof CommandRefused) throw error;
      throw new CommandRefused(isConnectionLost(error) ? 'unavailable' : 'failed', messageOf(error), error);
    }
  }
}

const causeOf = (error: unknown): unknown => (error instanceof CommandRefused ? error.cause : error);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
