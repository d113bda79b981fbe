import type { FailureInfo } from '../../../../api/contract/failures.ts';
import type { PersistentVolumeClaim, Pod } from '../../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../../api/kubevirt/types.ts';
import type { Asked, Facts, OperationFacts, TemporalFacts } from '../../../../cli/diagnose/facts.ts';
import type { Migration } from '../../../../cli/migration/objects.ts';
import type { Told } from '../../../../cli/temporal/operations.ts';
import { at, report, running, told, vm } from '../migration/samples.ts';

export const answer = <T>(value: T): Asked<T> => ({ answered: true, value });

export const AGENT = { type: 'AgentConnected', status: 'True' };
export const SILENT = {
  ...{ type: 'NodeUnresponsive', status: 'True', reason: 'NodeUnresponsive' },
  message: 'the worker of node node-a has not been heard of since 09:00.',
};
export const PAUSED = { type: 'Paused', status: 'True', reason: 'PausedIOError', message: 'vda: no space.' };

interface PodSample {
  node?: string;
  phase?: string;
  ready?: boolean;
  waiting?: string;
  unschedulable?: string;
  migrationUid?: string;
}

/** A launcher Pod whose containers run, unless said otherwise. */
export const pod = ({
  node = 'node-a',
  phase = 'Running',
  ready = true,
  waiting,
  unschedulable,
  migrationUid,
}: PodSample = {}): Pod => ({
  metadata: {
    ...{ name: 'virt-launcher-web', uid: migrationUid === undefined ? 'pod-1' : 'pod-2' },
    ...(migrationUid !== undefined && { labels: { 'kubevirt.io/migrationJobUID': migrationUid } }),
  },
  spec: { containers: [], ...(node !== '' && unschedulable === undefined && { nodeName: node }) },
  status: {
    phase,
    ...(unschedulable !== undefined && {
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: unschedulable }],
    }),
    containerStatuses: [
      container(
        'compute',
        phase === 'Failed' ? { terminated: { exitCode: 7 } } : ready && node !== '' ? { running: {} } : {},
      ),
      ...(waiting === undefined ? [] : [container('volumedisk0', { waiting: { reason: waiting } })]),
    ],
  },
});

const container = (name: string, state: object) => ({
  ...{ name, image: 'quay.example/disk:1', imageID: '', ready: false, restartCount: 0, state },
});

export const claim = (name: string, phase: string): { name: string; claim: PersistentVolumeClaim } => ({
  ...{ name, claim: { status: { phase } } },
});

const temporal = (more: Partial<TemporalFacts> = {}, workers = 1, controller = 1): Facts['temporal'] =>
  answer({ entity: answer(undefined), pollers: { controller, 'node-node-a': workers }, ...more });

const node = (ready: boolean) =>
  answer({ status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] } });

export const runningWell: Facts = {
  now: at(100),
  name: { namespace: 'default', name: 'web' },
  vm,
  vmi: running([AGENT]),
  pods: answer([pod()]),
  claims: answer([]),
  node: node(true),
  migration: answer(undefined),
  temporal: temporal(),
};

/** A VM without an instance. */
export function noInstance(
  { runStrategy = 'Always', retryAt }: { runStrategy?: string; retryAt?: string },
  { controller = 1 }: { controller?: number } = {},
): Facts {
  const { vmi: _, ...rest } = runningWell;
  const startFailure = retryAt === undefined ? {} : { startFailure: { retryAfterTimestamp: retryAt } };
  return {
    ...rest,
    vm: { ...vm, spec: { ...vm.spec, runStrategy }, status: { printableStatus: 'Stopped', ...startFailure } },
    pods: answer([]),
    temporal: temporal({}, 1, controller),
  };
}

interface VmiSample {
  phase?: string;
  conditions?: NonNullable<VirtualMachineInstance['status']>['conditions'];
  deleting?: boolean;
}

/** As it runs well, but for the instance. */
export function withVmi({ phase = 'Running', conditions = [AGENT], deleting }: VmiSample): Facts {
  const ended = phase === 'Failed';
  const vmi = running(conditions, { phase, ...(ended && { reason: 'guest ended: crashed' }) });
  return {
    ...runningWell,
    vmi: { ...vmi, metadata: { ...vmi.metadata, ...(deleting && { deletionTimestamp: at(99) }) } },
    ...((ended || phase === 'Pending') && { pods: answer([]) }),
  };
}

interface StartSample {
  pods?: Pod[];
  claims?: { name: string; claim?: PersistentVolumeClaim }[];
  nodeReady?: boolean;
  workers?: number;
  operation?: OperationFacts;
}

/** A start under way. */
export function starting({ pods = [], claims = [], nodeReady = true, workers = 1, operation }: StartSample): Facts {
  const { nodeName: _, activePods: __, ...status } = running([]).status ?? {};
  return {
    ...runningWell,
    vmi: { ...running([]), status: { ...status, phase: 'Scheduling' } },
    pods: answer(pods),
    claims: answer(claims),
    node: node(nodeReady),
    temporal: temporal(operation ? { operation } : {}, workers),
  };
}

const step = (state: 'waiting' | 'failed', type: FailureInfo['type']) => ({
  ...{ name: 'AStep', startedAt: at(0), attempts: 1, state, failure: { type, message: 'it is so.' } },
});

/** A start whose newest step waits because of a failure. */
export const waitingFor = (type: FailureInfo['type']): Facts =>
  starting({
    operation: {
      ...{ workflowId: 'vmi-start/vmi-1/1', state: 'running' },
      status: { kind: 'start', steps: [{ ...step('waiting', type), nextTryAt: at(130) }] },
    },
  });

/** A start that failed. */
export const failedBy = (type: FailureInfo['type']): Facts =>
  starting({
    operation: {
      ...{ workflowId: 'vmi-start/vmi-1/1', state: 'failed' },
      status: { kind: 'start', steps: [step('failed', type)], failure: { type, message: 'it is so.' } },
    },
  });

/** A VM that runs well and has this migration; without `status` its workflow is not known. */
export const migrating = (
  migration: Migration,
  status?: Partial<Told>,
  state: OperationFacts['state'] = 'running',
): Facts => ({
  ...runningWell,
  migration: answer(migration),
  temporal: temporal(
    status && {
      migration: { workflowId: 'migration/prod/x/u', state, status: told(report('Running'), status) },
    },
  ),
});
