import { Worker } from '@temporalio/worker';
import type { ControllerPorts } from '../../activities/controller/index.ts';
import { controllerActivities } from '../../activities/controller/index.ts';
import { kubeClient } from '../../activities/kube/client.ts';
import { defaultKubeConfig, restOf } from '../../activities/kube/rest.ts';
import { workflowClient } from '../../activities/temporal/client.ts';
import { CONTROLLER_QUEUE } from '../../api/contract/task-queues.ts';
import { Health, serveHealth, workerCheck } from '../shared/health.ts';
import { createLogger } from '../shared/logging.ts';
import { createRegistry, installRuntime, metricsPage } from '../shared/metrics.ts';
import { orStop, runMain, runWorkers } from '../shared/run.ts';
import { awaitSetup } from '../shared/setup-check.ts';
import type { Temporal } from '../shared/temporal.ts';
import { connectTemporal } from '../shared/temporal.ts';
import type { Bridge } from './bridge/bridge.ts';
import { workflowSource } from './bundle.ts';
import { certificateSigner } from './certificates/signer.ts';
import { configKeeper } from './cluster-config.ts';
import { readConfig } from './config.ts';
import type { FrontDoor } from './https/front-door.ts';
import { openFrontDoor } from './https/front-door.ts';
import { aroundOf } from './informers/around.ts';
import { Informer } from '../shared/informer.ts';
import type { WatchedChange } from './informers/informers.ts';
import { createInformers } from './informers/informers.ts';
import { Placements } from './informers/placed.ts';
import { lead } from './lead.ts';
import { runLeaderElection } from './leader.ts';
import { controllerMetrics } from './metrics/metrics.ts';
import { migrationMetrics } from './metrics/migrations.ts';
import { phaseMetrics } from './metrics/phases.ts';
import { pollerMetrics } from './metrics/pollers.ts';
import { watchOutage } from './outage.ts';
import { publishConfig } from './publish-config.ts';
import { aggregatedApi } from './subresources/aggregated-api.ts';
import { admission, admissionCaches } from './webhooks/index.ts';
import { watchWorkflowThread } from './workflow-thread/heartbeat.ts';

/** Label that a node worker puts on its Node. */
const SCHEDULABLE_LABEL = 'kubevirt.io/schedulable';

const config = readConfig(process.env);
const log = createLogger('controller', config.logLevel);

const createWorker = ({ connection, namespace }: Temporal, ports: ControllerPorts): Promise<Worker> =>
  Worker.create({
    connection,
    namespace,
    taskQueue: CONTROLLER_QUEUE,
    ...workflowSource(config.workflowBundle),
    activities: { ...controllerActivities(ports) },
    maxCachedWorkflows: config.maxCachedWorkflows,
    maxConcurrentActivityTaskExecutions: 100,
    // What is more than a few cores have to do waits at Temporal, in the order of its priority: of many starts the first ones end first.
    maxConcurrentWorkflowTaskExecutions: 16,
    // How long a workflow waits for a worker that was killed before another one takes it over. A busy worker has to be sooner than that: what is taken
    // from it begins anew from its whole history.
    stickyQueueScheduleToStartTimeout: '10s',
    // Activities here are short requests to the API server.
    shutdownGraceTime: '5s',
    shutdownForceTime: '15s',
  });

await runMain(log, async (signal) => {
  installRuntime(log, config.temporalMetricsPort);
  const rest = restOf(defaultKubeConfig());
  const kube = kubeClient(rest);
  const health = new Health();
  const register = createRegistry();
  const leaderLease = { kube, namespace: config.podNamespace, name: 'virtflow-controller', identity: config.podName };
  const report = (missing: string | undefined): void =>
    health.set('temporal', () => ({ ok: missing === undefined, detail: missing ?? 'connected' }));
  let servesInOutage = false;
  const unreachable = (reason: string): void => health.set('temporal', () => ({ ok: servesInOutage, detail: reason }));
  unreachable('not connected yet');

  let bridge: Bridge | undefined;
  let frontDoor: FrontDoor | undefined;
  const configuration = configKeeper();
  const metrics = controllerMetrics(register, () => bridge?.backlog ?? 0);
  const certificates = certificateSigner({
    ...{ rest, kube, namespace: config.podNamespace, durations: config.certificates, register, log },
  });
  health.set('certificates', certificates.check);

  const applyConfig = (): void => {
    const state = configuration.update(informers.KubeVirt.list());
    if (state.unreadable !== undefined)
      log.error({ reason: state.unreadable }, 'the last good configuration stays in force');
    if (bridge !== undefined) void publishConfig(kube, state, log);
  };
  const onChange = (change: WatchedChange): void => {
    if (change.kind === 'KubeVirt' && informers.KubeVirt.isSynced) applyConfig();
    if (change.kind === 'Pod') placements.changed(change);
    if (bridge === undefined) return;
    if (change.kind === 'VirtualMachineInstance') observePhases(change);
    if (change.kind === 'VirtualMachineInstanceMigration') observeMigrations(change);
    bridge.changed(change);
  };
  const informers = createInformers(rest, log, onChange);
  // Nobody is told of it: starts look.
  const namespaces = new Informer({ rest, kind: 'Namespace', log, onChange: () => undefined });
  const placements = new Placements(informers.Pod);
  const observePhases = phaseMetrics(register, () =>
    bridge === undefined ? [] : informers.VirtualMachineInstance.list(),
  );
  const observeMigrations = migrationMetrics(register, () =>
    bridge === undefined ? [] : informers.VirtualMachineInstanceMigration.list(),
  );
  const watching = [...Object.values(informers), namespaces].map((informer) => {
    health.set(`informer ${informer.kind}`, informer.check);
    return informer.run(signal);
  });

  const server = await serveHealth(config.healthPort, health, metricsPage(register, config.temporalMetricsPort));
  log.info({ config }, 'controller worker started');
  try {
    await orStop(Promise.all([...Object.values(informers), namespaces].map(({ synced }) => synced)), signal);
    applyConfig();
    const subresources = aggregatedApi({
      ...{ rest, kube, namespace: config.podNamespace, durations: config.certificates, log, signal },
      config: () => configuration.current().config,
    });
    health.set('subresources', subresources.check);
    watching.push(subresources.done.then(() => undefined));
    frontDoor = openFrontDoor({
      ...{ rest, kube, namespace: config.podNamespace, port: config.httpsPort, durations: config.certificates },
      mounts: {
        ...admission(
          {
            ...{ kube, namespace: config.podNamespace, clock: () => new Date() },
            config: () => configuration.current().config,
            cached: admissionCaches(informers),
          },
          { log, register },
        ),
        ...subresources.mounts,
      },
      ...{ clientCas: subresources.clientCas, log, signal },
    });
    health.set('front door', frontDoor.check);
    const connecting = new AbortController();
    void watchOutage(leaderLease, (serves) => (servesInOutage = serves), AbortSignal.any([signal, connecting.signal]));
    const temporal = await connectTemporal(log, signal, unreachable);
    connecting.abort();
    await awaitSetup(temporal, report, log, signal);
    const workflows = workflowClient(temporal.client);
    const worker = await createWorker(temporal, {
      kube,
      workflows,
      config: () => configuration.current().config,
      launcherImage: config.launcherImage,
      ...(config.imagePullSecret === undefined ? {} : { imagePullSecret: config.imagePullSecret }),
      cached: (kind, uid) => informers[kind].get(uid),
      around: aroundOf(informers, namespaces),
      placed: (uid) => placements.placed(uid),
      removed: (uid) => placements.removed(uid),
      clock: () => new Date(),
      log,
    });
    health.set(`queue ${CONTROLLER_QUEUE}`, workerCheck(worker));
    const nodes = (): string[] =>
      informers.Node.list()
        .filter(({ metadata }) => metadata?.labels?.[SCHEDULABLE_LABEL] !== undefined)
        .map(({ metadata }) => metadata?.name ?? '');
    const countPollers = pollerMetrics(register, temporal, nodes);
    const electing = runLeaderElection(
      { ...leaderLease, log },
      (leading) => {
        bridge = lead(
          {
            ...{ kube, client: temporal.client, workflows, informers, metrics, countPollers },
            ...{ rules: () => configuration.current().config, sweepMs: config.sweepMs },
            ...{ launcherImage: config.launcherImage, log },
          },
          leading,
        );
        metrics.isLeading.set(1);
        void certificates.lead(leading);
        void publishConfig(kube, configuration.current(), log);
        leading.addEventListener('abort', () => {
          bridge = undefined;
          metrics.isLeading.set(0);
        });
      },
      signal,
    );
    await Promise.race([runWorkers([worker], signal), watchWorkflowThread(signal)]);
    await electing;
  } finally {
    await server.close();
  }
  await Promise.all([...watching, frontDoor?.closed]);
});
