import type { GoneEvidence, NodeActivities } from '../../../api/contract/activities.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { withFailures } from '../../../activities/failures.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import { refuseFenced } from '../../../activities/node/fence/activities.ts';
import { readInstance, verifyLivePod, verifyPod } from '../../../activities/node/verify.ts';
import { verifyToken } from '../../../activities/node/verify-token.ts';
import type { FakeLaunchers } from './fake-launchers.ts';

export interface FakeNodePorts {
  node: string;
  kube: KubePort;
  clusterConfig: () => Promise<ClusterConfig>;
  launchers: FakeLaunchers;
}

const notPlayed = (): Promise<never> => Promise.reject(new Error('migrations are not played here'));

const evidence = (last: DomainReport): GoneEvidence => ({
  ...{ by: 'launcher', detail: `the launcher says ${last.state}`, lastReport: last },
});

/** Activities of a node without libvirt: they ask the API server all that the real ones ask, and a launcher that only pretends. */
export const fakeNodeActivities = ({ clusterConfig, launchers, ...ports }: FakeNodePorts): NodeActivities =>
  withFailures<NodeActivities>({
    async syncInstance({ vmi, pod, epoch }) {
      const request = { vmi, pod, epoch };
      await Promise.all([verifyLivePod(ports, request), verifyToken(ports, request)]);
      await Promise.all([clusterConfig(), readInstance(ports, vmi)]);
      await Promise.all([verifyToken(ports, request), refuseFenced(ports)]);
      return launchers.sync(pod.uid, epoch);
    },
    async shutdownDomain(request) {
      await verifyPod(ports, request);
      const report = await launchers.shutdown(request.pod.uid, request.deadline);
      return report.state === 'shutoff' ? { ...report, gone: evidence(report) } : report;
    },
    async destroyDomain(request) {
      await verifyPod(ports, request);
      return launchers.kill(request.pod.uid);
    },
    async proveDomainGone(request) {
      await verifyPod(ports, request);
      return evidence(launchers.get(request.pod.uid));
    },
    async inspectDomain(request) {
      await verifyPod(ports, request);
      return launchers.get(request.pod.uid);
    },
    stopFencedDomains: () => Promise.resolve({ stopped: [] }),
    inspectMigration: notPlayed,
    prepareMigrationTarget: notPlayed,
    migrateVMI: notPlayed,
    cancelMigration: notPlayed,
    resumeMigrated: notPlayed,
    finalizeMigration: notPlayed,
    abandonMigrationTarget: notPlayed,
    closeMigrationSource: notPlayed,
  });
