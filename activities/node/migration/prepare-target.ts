import type { NodeActivities } from '../../../api/contract/activities.ts';
import { migrationSocket } from '../../../api/launcher/migration.ts';
import { launchNote } from '../../facts/launch-notes.ts';
import { podFacts } from '../../facts/pod.ts';
import { failure } from '../../failures.ts';
import { within, withLauncher } from '../connect.ts';
import { refuseFenced } from '../fence/activities.ts';
import type { NodePorts } from '../ports.ts';
import { LAUNCHER_WAIT_MS, prepareLauncher } from '../prepare-launcher.ts';
import { withHeartbeat } from '../progress.ts';
import { verifyLivePod } from '../verify.ts';
import { allowUserfaultfd } from './userfaultfd.ts';
import { verifyMove } from '../verify-token.ts';

/**
 * Makes a Pod ready to take a guest in: disks, network, the launcher's PrepareMigrationTarget, and the way in for the source's node alone. Safe to
 * repeat; whatever it left behind goes with abandonMigrationTarget or with the Pod.
 */
export const prepareMigrationTarget =
  (ports: NodePorts): NodeActivities['prepareMigrationTarget'] =>
  (request) =>
    withHeartbeat(ports, async (progress) => {
      const { vmi: ref, migration, pod: target, source, epoch, disks } = request;
      const move = { vmi: ref, migration, source, target, epoch, moving: false };
      const pod = await verifyLivePod(ports, { vmi: ref, pod: target });
      if (podFacts(pod).migration?.uid !== migration.uid) {
        throw failure('ObjectGone', `Pod ${target.name} was not created for migration ${migration.name}`);
      }
      await verifyMove(ports, move);
      // Before anything is made that nobody could reach.
      const address = ports.proxy.endpoint();
      const { vmi, host } = await prepareLauncher(ports, { on: { vmi: ref, pod: target }, pod }, progress);
      if (launchNote(pod, 'postCopy') === 'true') await allowUserfaultfd();
      await Promise.all([verifyMove(ports, move), refuseFenced(ports)]);
      progress.report('preparing the launcher');
      const prepare = { migrationUid: migration.uid, tokenEpoch: epoch, vmi, host, disks };
      const { libvirtSocket } = await withLauncher(
        ports,
        request,
        (launcher) => launcher.prepareMigrationTarget(prepare),
        { until: within(LAUNCHER_WAIT_MS), cancelled: progress.cancelled },
      );
      const sockets = {
        libvirt: libvirtSocket,
        memory: migrationSocket('memory'),
        block: migrationSocket('block'),
      };
      const { name, uid } = target;
      await ports.proxy.admit({
        role: 'target',
        migrationUid: migration.uid,
        vmi: ref,
        pod: { name, uid },
        sourceNode: source.node,
        sockets,
      });
      return { node: ports.node, ...address, sockets, host };
    });
