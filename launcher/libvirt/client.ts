import type { ConnectionOptions } from './connection.ts';
import { Connection, defaultOptions } from './connection.ts';
import { LibvirtError, LibvirtErrorCode, LibvirtProtocolError } from './errors.ts';
import type { DomainEvent } from './events.ts';
import { decodeEvent, eventSources } from './events.ts';
import { procedures } from './procedures.ts';
import type { DomainInfo, DomainRef, DomainStats, JobStats, Parameter, StateAndReason } from './types.ts';

export interface ClientOptions extends Partial<ConnectionOptions> {
  readonly socketPath: string;
  /** `qemu:///session` for a daemon that does not run as root. */
  readonly uri: string;
  readonly onEvent: (event: DomainEvent) => void;
}

/** virDomainShutdownFlagValues. */
export const ShutdownBy = { acpi: 1, agent: 2 } as const;
/** virDomainStatsTypes, those in use; 0 asks for all. */
export const StatsGroup = { all: 0, state: 1, block: 32 } as const;
/** virDomainJobType of a job that is under way: with a known end, or without. */
const JOBS_UNDER_WAY = [1, 2];
/** VIR_DOMAIN_XML_SECURE | _MIGRATABLE. */
const XML_MIGRATABLE = 1 | 8;

/** virDomainMigrateFlags, those in use. */
export const MigrateFlag = {
  live: 1 << 0,
  peerToPeer: 1 << 1,
  persistDestination: 1 << 3,
  undefineSource: 1 << 4,
  /** The guest's CPUs stay stopped in the target. */
  paused: 1 << 5,
  /** Copies disks, taking what lies below an overlay as the same on both sides. */
  nonSharedIncremental: 1 << 7,
  unsafe: 1 << 9,
  autoConverge: 1 << 13,
  postCopy: 1 << 15,
} as const;

/** The oldest libvirt this client is tried with, as libvirt counts versions. */
export const MINIMUM_VERSION = 9_000_000n;

const AUTH_NONE = 0;
const FEATURE_PROGRAM_KEEPALIVE = 10;
/** VIR_DOMAIN_UNDEFINE_MANAGED_SAVE | _SNAPSHOTS_METADATA | _NVRAM: nothing of the definition may stay behind. */
const UNDEFINE_ALL = 1 | 2 | 4;
const START_PAUSED = 1;
/** VIR_DOMAIN_QEMU_AGENT_COMMAND_DEFAULT: libvirt's own time limit. */
const AGENT_DEFAULT_TIMEOUT = -2;

/** The domain operations the launcher needs, each one libvirt call. Throws what {@link Connection.call} throws. */
export class LibvirtClient {
  readonly #connection: Connection;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Connects, checks that the daemon can be used, and registers for all events.
   * @throws LibvirtConnectionError when it cannot be reached
   * @throws LibvirtProtocolError when it wants authentication or is older than {@link MINIMUM_VERSION}
   */
  static async connect(options: ClientOptions): Promise<LibvirtClient> {
    const connection = await Connection.open(
      options.socketPath,
      { ...defaultOptions, ...options },
      (message, reader) => {
        const event = decodeEvent(message, reader);
        if (event !== undefined) options.onEvent(event);
      },
    );
    try {
      const authList = connection.call('authList', procedures.authList);
      const authentications = await connection.first(authList);
      if (!authentications.includes(AUTH_NONE)) {
        throw new LibvirtProtocolError('libvirtd asks for authentication; set auth_unix_rw = "none" in libvirtd.conf');
      }
      const keepalive = await connection.call('supportsFeature', procedures.supportsFeature, FEATURE_PROGRAM_KEEPALIVE);
      if (keepalive) connection.startKeepalive();
      await connection.call('connectOpen', procedures.connectOpen, options.uri);
      const client = new LibvirtClient(connection);
      await client.#requireVersion();
      await client.#registerEvents();
      return client;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** Resolves, never rejects, with the reason once the connection has ended. */
  get closed(): Promise<Error> {
    return this.#connection.closed;
  }

  /** Ends the connection; domains are not affected. */
  async close(): Promise<void> {
    // A daemon that is gone needs no goodbye.
    await this.#connection.call('connectClose', procedures.connectClose).catch(() => undefined);
    this.#connection.close();
  }

  /** libvirt's version as one number: 9.0.0 is 9000000. */
  version(): Promise<bigint> {
    return this.#connection.call('connectGetLibVersion', procedures.connectGetLibVersion);
  }

  /** What libvirt and the default emulator can do, as XML. The first time libvirt has to find out: it may start an emulator for that. */
  domainCapabilities(): Promise<string> {
    return this.#connection.call('connectGetDomainCapabilities', procedures.connectGetDomainCapabilities);
  }

  /** Defines a domain or replaces the definition of the one with the same name and UUID. */
  define(xml: string): Promise<DomainRef> {
    return this.#connection.call('domainDefine', procedures.domainDefineXmlFlags, xml, 0);
  }

  /** Removes the definition with all its metadata; a running domain goes on without one. */
  undefine(domain: DomainRef): Promise<void> {
    return this.#connection.call('domainUndefine', procedures.domainUndefineFlags, domain, UNDEFINE_ALL);
  }

  /** Starts a defined domain, on request with stopped CPUs. */
  create(domain: DomainRef, options: { paused?: boolean } = {}): Promise<DomainRef> {
    const flags = options.paused === true ? START_PAUSED : 0;
    return this.#connection.call('domainCreate', procedures.domainCreateWithFlags, domain, flags);
  }

  /** @throws LibvirtError for which {@link isNoDomain} holds when there is none */
  lookup(name: string): Promise<DomainRef> {
    return this.#connection.call('domainLookupByName', procedures.domainLookupByName, name);
  }

  /** The domain as it runs; `migratable`: as another libvirt takes it over, secrets included. */
  xml(domain: DomainRef, options: { migratable?: boolean } = {}): Promise<string> {
    const flags = options.migratable === true ? XML_MIGRATABLE : 0;
    return this.#connection.call('domainGetXMLDesc', procedures.domainGetXmlDesc, domain, flags);
  }

  info(domain: DomainRef): Promise<DomainInfo> {
    return this.#connection.call('domainGetInfo', procedures.domainGetInfo, domain);
  }

  state(domain: DomainRef): Promise<StateAndReason> {
    return this.#connection.call('domainGetState', procedures.domainGetState, domain, 0);
  }

  suspend(domain: DomainRef): Promise<void> {
    return this.#connection.call('domainSuspend', procedures.domainSuspend, domain);
  }

  resume(domain: DomainRef): Promise<void> {
    return this.#connection.call('domainResume', procedures.domainResume, domain);
  }

  /** Asks the guest to shut down; returning says nothing about whether it will. */
  shutdown(domain: DomainRef, by: (typeof ShutdownBy)[keyof typeof ShutdownBy]): Promise<void> {
    return this.#connection.call('domainShutdown', procedures.domainShutdownFlags, domain, by);
  }

  /** Asks the guest to reboot, by its agent or, when that is not there, by ACPI: then it shuts down and libvirt starts it again. */
  reboot(domain: DomainRef): Promise<void> {
    return this.#connection.call('domainReboot', procedures.domainReboot, domain, 0);
  }

  /** Resets the machine; the guest is not asked. */
  reset(domain: DomainRef): Promise<void> {
    return this.#connection.call('domainReset', procedures.domainReset, domain, 0);
  }

  /** Ends QEMU at once. */
  destroy(domain: DomainRef): Promise<void> {
    return this.#connection.call('domainDestroy', procedures.domainDestroyFlags, domain, 0);
  }

  /** Statistics of all domains, by groups of {@link StatsGroup}. */
  allDomainStats(groups: number = StatsGroup.all): Promise<DomainStats[]> {
    return this.#connection.call('connectGetAllDomainStats', procedures.connectGetAllDomainStats, [], groups, 0);
  }

  /**
   * Runs one guest agent command and returns its `return` value.
   * @param timeoutSeconds how long the agent may take; libvirt's default (5 s) when not given
   * @throws LibvirtError for which {@link isAgentUnresponsive} holds when it does not answer
   */
  async agentCommand(
    domain: DomainRef,
    execute: string,
    args?: Readonly<Record<string, unknown>>,
    timeoutSeconds: number = AGENT_DEFAULT_TIMEOUT,
  ): Promise<unknown> {
    const command = JSON.stringify({ execute, ...(args === undefined ? {} : { arguments: args }) });
    const answer = await this.#connection.call(
      `agent ${execute}`,
      procedures.qemuDomainAgentCommand,
      domain,
      command,
      timeoutSeconds,
    );
    return answer === null ? undefined : agentReturn(execute, answer);
  }

  /** Progress of the domain's running job, or with `completed` the figures of the last one. */
  jobStats(domain: DomainRef, options: { completed?: boolean } = {}): Promise<JobStats> {
    const flags = options.completed === true ? 1 : 0;
    return this.#connection.call('domainGetJobStats', procedures.domainGetJobStats, domain, flags);
  }

  abortJob(domain: DomainRef): Promise<void> {
    return this.#connection.call('domainAbortJob', procedures.domainAbortJob, domain);
  }

  /** Downtime in milliseconds that a migration may end with. */
  setMaxDowntime(domain: DomainRef, milliseconds: number): Promise<void> {
    const procedure = procedures.domainMigrateSetMaxDowntime;
    return this.#connection.call('domainMigrateSetMaxDowntime', procedure, domain, BigInt(Math.round(milliseconds)));
  }

  /** Switches a migration with {@link MigrateFlag.postCopy} over; refused before the transfer of memory has begun. */
  startPostCopy(domain: DomainRef): Promise<void> {
    return this.#connection.call('domainMigrateStartPostCopy', procedures.domainMigrateStartPostCopy, domain, 0);
  }

  /** Runs a QMP command that libvirt has no call for. Marks the domain as tainted in libvirt's log. @returns what QEMU says against it, if it does */
  async monitorCommand(
    domain: DomainRef,
    execute: string,
    args: Readonly<Record<string, unknown>> = {},
  ): Promise<string | undefined> {
    const command = JSON.stringify({ execute, arguments: args });
    const answer = await this.#connection.call(
      `monitor ${execute}`,
      procedures.qemuDomainMonitorCommand,
      domain,
      command,
    );
    return refusalOf(answer);
  }

  /** Migrates peer to peer; returns when it is over. `flags` as in {@link MigrateFlag}. */
  migrate(domain: DomainRef, destinationUri: string, parameters: readonly Parameter[], flags: number): Promise<void> {
    const procedure = procedures.domainMigratePerform3Params;
    return this.#connection.call('domainMigrate', procedure, domain, destinationUri, parameters, flags);
  }

  async #requireVersion(): Promise<void> {
    const version = await this.version();
    if (version < MINIMUM_VERSION) {
      throw new LibvirtProtocolError(
        `libvirt ${versionText(version)} is too old: ${versionText(MINIMUM_VERSION)} is needed`,
      );
    }
  }

  async #registerEvents(): Promise<void> {
    await Promise.all(
      eventSources.map(({ eventId }) =>
        this.#connection.call('domainEventRegister', procedures.domainEventCallbackRegisterAny, eventId),
      ),
    );
  }
}

const versionText = (version: bigint): string =>
  `${version / 1_000_000n}.${(version / 1_000n) % 1_000n}.${version % 1_000n}`;

/** Of an answer of QEMU's monitor. */
function refusalOf(answer: string): string | undefined {
  const { error } = JSON.parse(answer) as { error?: { desc?: string } };
  return error === undefined ? undefined : (error.desc ?? 'no reason given');
}

function agentReturn(execute: string, answer: string): unknown {
  try {
    const parsed: unknown = JSON.parse(answer);
    return typeof parsed === 'object' && parsed !== null && 'return' in parsed ? parsed.return : undefined;
  } catch {
    const failure = {
      code: LibvirtErrorCode.internalError,
      domain: 0,
      message: 'the guest agent did not answer in JSON',
    };
    throw new LibvirtError(`agent ${execute}`, failure);
  }
}

/** True while the job that the statistics are of is under way. */
export const isUnderWay = ({ type }: JobStats): boolean => JOBS_UNDER_WAY.includes(type);
