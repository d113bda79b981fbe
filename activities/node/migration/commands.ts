import { ApplicationFailure } from '@temporalio/common';
import type { NodeActivities } from '../../../api/contract/activities.ts';
import type { FailureType } from '../../../api/contract/failures.ts';
import { failure } from '../../failures.ts';
import { withLauncher } from '../connect.ts';
import type { NodePorts } from '../ports.ts';
import { verifyPod } from '../verify.ts';
import { verifyTarget } from '../verify-token.ts';

/** What the Pod's launcher knows of a migration. */
export const inspectMigration =
  (ports: NodePorts): NodeActivities['inspectMigration'] =>
  async (request) => {
    await verifyPod(ports, request);
    return withLauncher(ports, request, (launcher) => launcher.getMigration({ migrationUid: request.migration.uid }));
  };

/** Source: aborts, and bars the uid if it has not begun. */
export const cancelMigration =
  (ports: NodePorts): NodeActivities['cancelMigration'] =>
  async (request) => {
    await verifyPod(ports, request);
    return withLauncher(ports, request, (launcher) =>
      launcher.cancelMigration({ migrationUid: request.migration.uid }),
    );
  };

/** Target: resumes the guest. The caller knows that the source is proven gone. */
export const resumeMigrated =
  (ports: NodePorts): NodeActivities['resumeMigrated'] =>
  async (request) => {
    await Promise.all([verifyPod(ports, request), verifyTarget(ports, request)]);
    return withLauncher(ports, request, (launcher) => launcher.resumeMigrated({ migrationUid: request.migration.uid }));
  };

/** Target: the domain is this Pod's from now on. */
export const finalizeMigration =
  (ports: NodePorts): NodeActivities['finalizeMigration'] =>
  async (request) => {
    const { vmi, migration, epoch } = request;
    await Promise.all([verifyPod(ports, request), verifyTarget(ports, request)]);
    const report = await withLauncher(ports, request, async (launcher) => {
      await launcher.finalizeMigration({ migrationUid: migration.uid, tokenEpoch: epoch });
      return launcher.getDomain(vmi.uid);
    });
    await ports.proxy.close(migration.uid);
    return report;
  };

/** Target: nobody comes in any more, then what came in is destroyed. */
export const abandonMigrationTarget =
  (ports: NodePorts): NodeActivities['abandonMigrationTarget'] =>
  async (request) => {
    await verifyPod(ports, request);
    // First: from here on no hand-over reaches the launcher.
    await ports.proxy.close(request.migration.uid);
    try {
      return await withLauncher(ports, request, (launcher) =>
        launcher.abandonMigrationTarget({ migrationUid: request.migration.uid }),
      );
    } catch (error) {
      throw asStillRunning(error, request.pod.name);
    }
  };

/** What a launcher refuses as a matter of state is here: its guest was resumed. */
const asStillRunning = (error: unknown, podName: string): unknown => {
  if (!(error instanceof ApplicationFailure) || error.type !== ('StaleToken' satisfies FailureType)) return error;
  return failure('StillRunning', `Pod ${podName} holds the guest: ${error.message}`, error);
};

/** Source: closes its side of the proxy. */
export const closeMigrationSource =
  (ports: NodePorts): NodeActivities['closeMigrationSource'] =>
  ({ migration }) =>
    ports.proxy.close(migration.uid);
