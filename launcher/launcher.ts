import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { COMMAND_SOCKET, INIT_SOCKET, LAUNCHER_VOLUMES } from '../api/launcher/paths.ts';
import { serveCommands } from './command-server/index.ts';
import { readConfig } from './config.ts';
import type { toDomainXml } from './converter/index.ts';
import type { DaemonPaths } from './daemon/paths.ts';
import { interfacesOf, readLease } from './dhcp/lease.ts';
import { DhcpServer } from './dhcp/server.ts';
import { hostnameOf, linkConsoles, prepareDisks } from './directories/index.ts';
import { storageProbe } from './directories/storage-probe.ts';
import { exitCodeOf } from './domain-manager/assess.ts';
import { DomainManager } from './domain-manager/index.ts';
import { Memory } from './domain-manager/memory.ts';
import { ReportStream } from './domain-manager/report-stream.ts';
import { AgentPoller } from './guest-agent/poller.ts';
import { Guest } from './guest/index.ts';
import { TERMINATED_FILE } from './init/supervisor.ts';
import { Migrations } from './migration/index.ts';

/** A reader that is alive takes the last report at once; one that restarts finds it in the state volume later. */
const LAST_REPORT_WAIT_MS = 15_000;
/** The node worker connects first: that need not wait. */
const CONVERTER_AFTER_MS = 100;

/** Only a domain's start needs it: loaded when the launcher has said that it is there. */
export const loadConverter = async (): Promise<typeof toDomainXml> =>
  (await import('./converter/index.ts')).toDomainXml;

/**
 * Serves one VMI, with a libvirtd that is being started. Runs until the domain has ended, or until the Pod shall end and there is no domain; returns the
 * Pod's exit code.
 */
export async function runLauncher(daemon: DaemonPaths, env: NodeJS.ProcessEnv): Promise<number> {
  const log = pino({ base: {} });
  const config = readConfig(env);
  const terminated = termination();
  linkConsoles(config.vmi.uid);
  const memory = Memory.open(LAUNCHER_VOLUMES.state.path);
  const { epoch } = memory.now;
  const { vmi, podUid } = config;
  const reports = new ReportStream({ vmi, podUid, epoch, directory: LAUNCHER_VOLUMES.state.path });

  const dhcp = new DhcpServer(log);
  const poller: AgentPoller = new AgentPoller({
    command: (execute) => domains.domain.run((client, domain) => client.agentCommand(domain, execute)),
    report: (told) => {
      domains.guestChanged(told);
      if (told.fsFreezeStatus !== undefined) guest.freezer.seenFrozen();
    },
    quietMs: () => migrations.quietMs,
    log,
  });
  const domains: DomainManager = new DomainManager({
    config,
    memory,
    reports,
    daemon,
    log,
    prepare: async (request) => {
      memory.update({ hostname: hostnameOf(request.vmi) });
      await prepareDisks(request.vmi, request.host);
      const convert = await loadConverter();
      return convert(request.vmi, request.host, storageProbe);
    },
    onDomain: (xml) => {
      if (interfacesOf(xml).macs.length > 0) dhcp.serve(() => readLease(xml, memory.now.hostname));
    },
    onAgent: (connected) => poller.connectedChanged(connected),
    onEvent: (event) => migrations.onEvent(event),
    onObserved: (seen) => migrations.observed(seen),
    onStop: () => migrations.stopAll(),
  });
  const migrations: Migrations = new Migrations({
    domains,
    memory,
    log,
    libvirtSocket: daemon.socket,
    prepare: async (vmi, host, disks) => {
      memory.update({ hostname: hostnameOf(vmi) });
      await prepareDisks(vmi, host, disks);
    },
  });
  const directory = LAUNCHER_VOLUMES.libvirt.path;
  const guest: Guest = new Guest({ domains, memory, log, lookAgain: () => poller.lookAgain(), directory });

  const server = await serveCommands({
    config,
    release: release(),
    epoch,
    domains,
    migrations,
    guest,
    initSocket: join(LAUNCHER_VOLUMES.sockets.path, INIT_SOCKET),
    commandSocket: join(LAUNCHER_VOLUMES.sockets.path, COMMAND_SOCKET),
    log,
  });
  await domains.connected();
  migrations.adopt();
  server.markReady();
  log.info({ epoch, state: reports.latest.state }, 'ready');
  // What QEMU can do without KVM is known from the image.
  if (existsSync('/dev/kvm')) void domains.warmUp();
  setTimeout(() => void loadConverter(), CONVERTER_AFTER_MS).unref();

  // A source whose guest has moved stays to tell so, until its Pod is deleted.
  const ended = domains.ended.then((end) => (end === 'migrated' ? terminated : undefined));
  await Promise.race([ended, terminated.then(() => domains.stopWithin(config.gracePeriodMs))]);
  poller.stop();
  const { state, end } = reports.latest;
  log.info({ state, end }, 'ending the Pod');
  if (end !== undefined) await reports.latestReceived(LAST_REPORT_WAIT_MS);
  await server.answered();
  return exitCodeOf(end);
}

/** Resolves when the Pod shall end: SIGTERM, also one that came while no launcher ran. */
function termination(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGTERM', () => resolve());
    if (existsSync(TERMINATED_FILE)) resolve();
  });
}

function release(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
