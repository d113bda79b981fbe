import type { NodeActivities } from '../../api/contract/activities.ts';
import { withFailures } from '../failures.ts';
import { destroyDomain, inspectDomain, shutdownDomain } from './domain-commands.ts';
import { stopFencedDomains } from './fence/activities.ts';
import {
  abandonMigrationTarget,
  cancelMigration,
  closeMigrationSource,
  finalizeMigration,
  inspectMigration,
  resumeMigrated,
} from './migration/commands.ts';
import { migrateVMI } from './migration/migrate.ts';
import { prepareMigrationTarget } from './migration/prepare-target.ts';
import type { NodePorts } from './ports.ts';
import { proveDomainGone } from './prove-domain-gone.ts';
import { syncInstance } from './sync-instance.ts';

export type { NodePorts, Progress } from './ports.ts';

/** The activities of one node. */
export const nodeActivities = (ports: NodePorts): NodeActivities =>
  withFailures<NodeActivities>({
    syncInstance: syncInstance(ports),
    shutdownDomain: shutdownDomain(ports),
    destroyDomain: destroyDomain(ports),
    proveDomainGone: proveDomainGone(ports),
    inspectDomain: inspectDomain(ports),
    inspectMigration: inspectMigration(ports),
    prepareMigrationTarget: prepareMigrationTarget(ports),
    migrateVMI: migrateVMI(ports),
    cancelMigration: cancelMigration(ports),
    resumeMigrated: resumeMigrated(ports),
    finalizeMigration: finalizeMigration(ports),
    abandonMigrationTarget: abandonMigrationTarget(ports),
    stopFencedDomains: stopFencedDomains(ports),
    closeMigrationSource: closeMigrationSource(ports),
  });
