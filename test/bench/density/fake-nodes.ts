import { createServer } from 'node:http';
import { KubeConfig } from '@kubernetes/client-node';
import { Worker } from '@temporalio/worker';
import { APP_LABEL, LAUNCHER_APP } from '../../../activities/facts/labels.ts';
import { podFacts } from '../../../activities/facts/pod.ts';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import { defaultKubeConfig, restOf } from '../../../activities/kube/rest.ts';
import { domainReported } from '../../../api/contract/entities.ts';
import { instanceId } from '../../../api/contract/refs.ts';
import type { Node } from '../../../api/kubernetes/types.ts';
import { Informer } from '../../../workers/shared/informer.ts';
import { watchClusterConfig } from '../../../workers/node/kubernetes/cluster-config.ts';
import { keepHeartbeat } from '../../../workers/node/kubernetes/heartbeat.ts';
import { deliverTo } from '../../../workers/node/launchers/delivery.ts';
import { queuesOf } from '../../../workers/node/queues.ts';
import { createLogger } from '../../../workers/shared/logging.ts';
import { installRuntime } from '../../../workers/shared/metrics.ts';
import { runMain, runWorkers } from '../../../workers/shared/run.ts';
import { connectTemporal } from '../../../workers/shared/temporal.ts';
import { fakeNodeActivities } from './fake-activities.ts';
import { fakeLaunchers } from './fake-launchers.ts';

/** Serves the queues of all nodes that KWOK plays, from one process. */

const log = createLogger('nodes', 'info');
const names = Array.from({ length: Number(process.env['NODES']) }, (_, n) => `fake-${n + 1}`);

const asAdmin = restOf(configOf(process.env['ADMIN_KUBECONFIG'] ?? ''));

function configOf(file: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(file);
  return config;
}

const nodeOf = (name: string): Node => {
  const devices = Object.fromEntries(
    ['kvm', 'tun', 'vhost-net'].map((device) => [`devices.kubevirt.io/${device}`, '1k']),
  );
  const room = { cpu: '64', memory: '256Gi', pods: '250', 'ephemeral-storage': '1Ti', ...devices };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
    },
    status: { allocatable: room, capacity: room },
  };
};

/** What a node worker writes of its node; not by its own account, which may write on a Node from a Pod there only. */
const register = async (kube: KubePort, name: string, signal: AbortSignal): Promise<void> => {
  await kube.create('Node', nodeOf(name));
  const labels = { 'machine-type.node.kubevirt.io/q35': 'true', 'machine-type.node.kubevirt.io/pc-q35-7.2': 'true' };
  void keepHeartbeat({ node: name, kube, schedulable: () => true, labels: () => Promise.resolve(labels), log, signal });
};

await runMain(log, async (signal) => {
  installRuntime(log, 9809);
  const rest = restOf(defaultKubeConfig(), { silenceMs: 400_000 });
  const kube = kubeClient(rest);
  const admin = kubeClient(asAdmin);
  for (const name of names) await register(admin, name, signal);
  const { connection, client, namespace } = await connectTemporal(log, signal);
  const delivery = deliverTo({
    send: (report) => client.workflow.getHandle(instanceId(report.vmi)).signal(domainReported, report),
    ...{ log, signal },
  });
  const launchers = fakeLaunchers((report) => delivery.offer(report));
  const pods = new Informer({
    ...{ rest: asAdmin, kind: 'Pod', labelSelector: `${APP_LABEL}=${LAUNCHER_APP}`, log },
    onChange: ({ before, after }) => {
      if (after === undefined) launchers.gone(before?.metadata?.uid ?? '');
      else if (podFacts(after).computeReady) launchers.ready(after);
    },
  });
  void pods.run(signal);
  await pods.synced;
  const workers: Worker[] = [];
  for (const node of names) {
    // A watch of its own, as each node has.
    const clusterConfig = watchClusterConfig(rest, log, signal);
    const activities = { ...fakeNodeActivities({ node, kube, clusterConfig, launchers }) };
    for (const queue of queuesOf(node))
      workers.push(await Worker.create({ connection, namespace, ...queue, activities }));
  }
  const server = createServer((_, response) => response.end('ok\n')).listen(Number(process.env['HEALTH_PORT']));
  await runWorkers(workers, signal);
  server.close();
});
