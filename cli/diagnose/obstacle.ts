import { NODE_UNRESPONSIVE } from '../../api/contract/nodes.ts';
import type { FailureInfo } from '../../api/contract/failures.ts';
import { isFailureType } from '../../api/contract/failures.ts';
import { remedyFor } from '../remedies.ts';
import { currentStep, failedStep, type Told } from '../temporal/operations.ts';
import { briefly, clause, duration } from '../words.ts';
import type { Facts, Standing, StageName } from './facts.ts';
import { unschedulable } from './pod.ts';

/** What stands in the way of a start or shutdown: at which stage, and how. */
export interface Obstacle {
  stage: StageName;
  standing: Standing;
}

/** Stage at which a failure of a start or shutdown is shown. */
const STAGE_OF: Record<FailureInfo['type'], StageName> = {
  InvalidSpec: 'object',
  ObjectGone: 'object',
  Cancelled: 'object',
  Refused: 'object',
  InstancetypeNotFound: 'object',
  PreferenceNotFound: 'object',
  Unknown: 'object',
  VolumeNotFound: 'volumes',
  VolumeNotReady: 'volumes',
  VolumeFailed: 'volumes',
  NetworkNotFound: 'volumes',
  Forbidden: 'launcher Pod',
  NotAuthorized: 'launcher Pod',
  QuotaExceeded: 'launcher Pod',
  TokenHeld: 'launcher Pod',
  StaleToken: 'launcher Pod',
  ImageContent: 'launcher Pod',
  PodNotReady: 'launcher Pod',
  PodFailed: 'launcher Pod',
  DeadlineExceeded: 'launcher Pod',
  NoWorker: 'command server',
  NodeFenced: 'command server',
  LauncherUnreachable: 'command server',
  LauncherTooOld: 'command server',
  DomainRejected: 'libvirt',
  DomainFailed: 'libvirt',
  StillRunning: 'domain',
  Unproven: 'domain',
  // These belong to migrations and do not occur elsewhere.
  NotMigratable: 'object',
  OperationUnderWay: 'object',
  MigrationFailed: 'domain',
  MigrationOutcomeUnknown: 'domain',
  PeerUnreachable: 'command server',
};

/** From the operation, if it could be asked; else from the conditions of the VMI. Undefined: nothing is known to be in the way. */
export function obstacleOf(facts: Facts): Obstacle | undefined {
  const operation = facts.temporal.answered ? facts.temporal.value.operation : undefined;
  if (operation?.status) return fromOperation(facts, operation.status, operation.state !== 'running');
  return fromConditions(facts);
}

function fromOperation(facts: Facts, status: Told, over: boolean): Obstacle | undefined {
  const standing = troubleOf(status, over, facts);
  const type = failureOf(status, over)?.type;
  return standing && type && { stage: stageOf(type, facts), standing };
}

/** How an operation's newest step waits, or why the operation failed; undefined: neither. */
export function troubleOf(status: Told, over: boolean, { now, name }: Facts): Standing | undefined {
  const failure = failureOf(status, over);
  if (!failure || failure.type === 'Cancelled') return undefined;
  const step = over ? failedStep(status.steps) : currentStep(status.steps);
  const next = !over && step?.nextTryAt ? ` (next try in ${duration(now, step.nextTryAt)})` : '';
  return {
    state: over ? 'failed' : 'waiting',
    by: [...(step ? [step.name] : []), failure.type].join(': '),
    why: `${clause(briefly(failure.message))}${next}`,
    remedy: remedyFor(failure.type, name, failure.message),
  };
}

const failureOf = (status: Told, over: boolean): FailureInfo | undefined =>
  over ? status.failure : currentStep(status.steps)?.failure;

const stageOf = (type: FailureInfo['type'], facts: Facts): StageName =>
  type === 'PodNotReady' && unschedulable(facts) !== undefined ? 'scheduling' : STAGE_OF[type];

/** KubeVirt's reasons in the condition Synchronized that stand for a failure type. */
const REASONS: Record<string, FailureInfo['type']> = {
  FailedPvcNotFound: 'VolumeNotFound',
  UnsupportedRunStrategy: 'InvalidSpec',
  [NODE_UNRESPONSIVE]: 'NoWorker',
};

/** Condition that names what is in the way; of the VM as long as there is no VMI. */
function fromConditions(facts: Facts): Obstacle | undefined {
  const conditions = (facts.vmi ?? facts.vm)?.status?.conditions ?? [];
  const bad = conditions.find(
    ({ type, status }) =>
      (type === 'Synchronized' && status === 'False') ||
      (['Failure', NODE_UNRESPONSIVE].includes(type) && status === 'True'),
  );
  if (!bad) return undefined;
  const { reason = '', message = '' } = bad;
  const type = typeOf(reason, message);
  return {
    stage: stageOf(type, facts),
    standing: {
      state: 'waiting',
      why: `${reason}: ${clause(message)}`,
      remedy: remedyFor(type, facts.name, `${reason}: ${message}`),
    },
  };
}

function typeOf(reason: string, message: string): FailureInfo['type'] {
  if (isFailureType(reason)) return reason;
  if (reason === 'FailedCreate') return /quota/i.test(message) ? 'QuotaExceeded' : 'Forbidden';
  return REASONS[reason] ?? (/Image|Container/.test(reason) ? 'PodNotReady' : 'Unknown');
}
