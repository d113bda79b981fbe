import { setTimeout as delay } from 'node:timers/promises';
import type { NodeActivities } from '../../../api/contract/activities.ts';
import type { CarryOut, MigrationVerdict } from '../../../api/contract/migrations.ts';
import type { MigrationMode, MigrationNumbers, MigrationOutcome } from '../../../api/launcher/migration.ts';
import { failure } from '../../failures.ts';
import { within, withLauncher } from '../connect.ts';
import { isUnreachable } from '../launcher-client/errors.ts';
import type { PeerLink, SourceSession } from '../migration-proxy/port.ts';
import type { NodePorts } from '../ports.ts';
import type { Beating } from '../progress.ts';
import { withHeartbeat } from '../progress.ts';
import { verifyPod } from '../verify.ts';
import { verifyMove } from '../verify-token.ts';
import { handOver } from './hand-over.ts';

/** A launcher that died is started again by its Pod's init within seconds, and knows what it was doing. */
const REATTACH_MS = 30_000;
const RETRY_MS = 500;
/** How long the target's node is tried before anything begins. */
const MEET_MS = 5_000;
/** How long the launcher is asked for the final numbers. */
const NUMBERS_MS = 1_000;
const NUMBERS_POLL_MS = 50;

/**
 * Carries a migration out on the source's launcher, or attaches to it, and hands the guest over. Its own end leaves migration and proxy as they are:
 * the next attempt finds both.
 */
export const migrateVMI =
  (ports: NodePorts): NodeActivities['migrateVMI'] =>
  (request) =>
    withHeartbeat(ports, async (progress) => {
      const { pod, target, endpoint, migration, vmi } = request;
      await Promise.all([verifyPod(ports, request), verifyMove(ports, { ...request, source: pod, moving: true })]);
      const session: SourceSession = {
        role: 'source',
        migrationUid: migration.uid,
        vmi,
        pod: { name: pod.name, uid: pod.uid },
        target: { node: target.node, address: endpoint.address, port: endpoint.port },
      };
      let mode: MigrationMode | undefined;
      const noting: Beating = {
        ...progress,
        report(latest) {
          if (typeof latest === 'object') ({ mode } = latest);
          progress.report(latest);
        },
      };
      const peer = ports.proxy.link(session, () => {
        // A post-copy has parts of the guest on either side: it can only wait until they are together again.
        if (mode === 'PostCopy') return;
        ports.proxy.interrupt(migration.uid, `the worker of node ${target.node} does not answer any more`);
      });
      try {
        if (!(await hasBegun(ports, request, progress))) await meetPeer(peer, target.node, progress);
        await ports.proxy.open(session);
        const outcome = await untilEnded(ports, request, noting);
        return await verdictOf(ports, request, outcome, peer);
      } finally {
        peer.close();
      }
    });

const hasBegun = (ports: NodePorts, request: CarryOut, { cancelled }: Beating): Promise<boolean> =>
  withLauncher(
    ports,
    request,
    async (launcher) => {
      const view = await launcher.getMigration({ migrationUid: request.migration.uid });
      return view.job || view.outcome !== undefined;
    },
    { until: within(REATTACH_MS), cancelled },
  );

/** Whoever cannot be spoken to now cannot be handed a guest later; one that is starting again is waited for. @throws PeerUnreachable */
const meetPeer = async (peer: PeerLink, node: string, { cancelled }: Beating): Promise<void> => {
  for (const until = Date.now() + MEET_MS; ;) {
    try {
      const { role } = await peer.inspect();
      if (role === 'target') return;
      throw failure('PeerUnreachable', `node ${node}: the target's launcher is not prepared for this migration`);
    } catch (error) {
      if (Date.now() + RETRY_MS >= until || cancelled.aborted) throw error;
    }
    await delay(RETRY_MS, undefined, { signal: cancelled });
  }
};

/** Follows the migration to its end, over restarts of the launcher. */
const untilEnded = async (ports: NodePorts, request: CarryOut, progress: Beating): Promise<MigrationOutcome> => {
  for (let lost = 0; ;) {
    try {
      const outcome = await followOnce(ports, request, progress, () => (lost = 0));
      if (outcome !== undefined) return outcome;
      progress.cancelled.throwIfAborted();
      throw failure(
        'LauncherUnreachable',
        `the launcher of Pod ${request.pod.name} broke the stream of MigrateVMI off`,
      );
    } catch (error) {
      lost ||= Date.now();
      if (!isUnreachable(error) || progress.cancelled.aborted || Date.now() - lost > REATTACH_MS) throw error;
    }
    await delay(RETRY_MS, undefined, { signal: progress.cancelled });
  }
};

const followOnce = (
  ports: NodePorts,
  request: CarryOut,
  progress: Beating,
  heard: () => void,
): Promise<MigrationOutcome | undefined> =>
  withLauncher(
    ports,
    request,
    async (launcher) => {
      const { migration, options, endpoint } = request;
      const migrate = { migrationUid: migration.uid, options, targetHost: endpoint.host };
      for await (const event of launcher.migrateVMI(migrate, progress.cancelled)) {
        heard();
        if (event.type === 'ended') return event.outcome;
        progress.report(event.progress);
      }
      return undefined;
    },
    { cancelled: progress.cancelled },
  );

/** From here on nothing is cancelled: while the guest stands still, its hand-over is all that counts. */
const verdictOf = async (
  ports: NodePorts,
  request: CarryOut,
  outcome: MigrationOutcome,
  peer: PeerLink,
): Promise<MigrationVerdict> => {
  switch (outcome.kind) {
    case 'sourceGone': {
      await handOver(ports, request.pod, peer);
      const resumedAt = new Date().toISOString();
      const numbers = (await finalNumbers(ports, request)) ?? outcome.numbers;
      return { kind: 'moved', resumedAt, ...(numbers && { numbers }) };
    }
    case 'sourceActive': {
      const { cause, numbers } = outcome;
      const message = [outcome.message, ...ports.proxy.troubles(request.migration.uid)].join('; ');
      return { kind: 'stayed', cause, message, ...(numbers && { numbers }) };
    }
    case 'unknown':
      throw failure('MigrationOutcomeUnknown', `the launcher of Pod ${request.pod.name}: ${outcome.message}`);
  }
};

/** libvirt counts the downtime when it is over: shortly after the launcher has said that the source is gone. A launcher that has ended tells nothing. */
const finalNumbers = async (ports: NodePorts, request: CarryOut): Promise<MigrationNumbers | undefined> => {
  const migrationUid = request.migration.uid;
  try {
    return await withLauncher(ports, request, async (launcher) => {
      for (const until = Date.now() + NUMBERS_MS; ; await delay(NUMBERS_POLL_MS)) {
        const { outcome } = await launcher.getMigration({ migrationUid });
        const numbers = outcome?.kind === 'sourceGone' ? outcome.numbers : undefined;
        if (numbers?.downtimeMs !== undefined || Date.now() >= until) return numbers;
      }
    });
  } catch {
    return undefined;
  }
};
