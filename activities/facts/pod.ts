import type { PodFacts } from '../../api/contract/facts.ts';
import type { ContainerStatus, Pod, PodStatus } from '../../api/kubernetes/types.ts';
import { isTrue } from '../../api/kubernetes/conditions.ts';
import { COMPUTE, CREATED_BY_LABEL, MIGRATION_NAME_ANNOTATION, MIGRATION_UID_LABEL } from './labels.ts';
import { launchNote } from './launch-notes.ts';

/** A waiting container with one of these is on its way; every other reason says why it cannot start. */
const ON_ITS_WAY = new Set(['PodInitializing', 'ContainerCreating']);

const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed'] as const;

/** What decisions about a launcher Pod need. */
export const podFacts = (pod: Pod): PodFacts => {
  const { metadata, spec, status } = pod;
  const compute = status?.containerStatuses?.find(({ name }) => name === COMPUTE);
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const launcher = spec?.containers.find(({ name }) => name === COMPUTE);
  const unready = launcher?.readinessProbe === undefined ? undefined : unreadyWhy(status);
  const exitCode = compute?.state?.terminated?.exitCode;
  const waiting = status === undefined ? undefined : stuckContainer(status);
  const reason = reasonOf(status, compute);
  const attempt = Number(launchNote(pod, 'attempt'));
  const migrationUid = metadata?.labels?.[MIGRATION_UID_LABEL];
  return {
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    resourceVersion: metadata?.resourceVersion ?? '',
    createdBy: metadata?.labels?.[CREATED_BY_LABEL] ?? '',
    ...(Number.isInteger(attempt) ? { attempt } : {}),
    ...(migrationUid === undefined
      ? {}
      : { migration: { name: metadata?.annotations?.[MIGRATION_NAME_ANNOTATION] ?? '', uid: migrationUid } }),
    ...(spec?.nodeName === undefined ? {} : { node: spec.nodeName }),
    phase: PHASES.find((phase) => phase === status?.phase) ?? 'Unknown',
    deleting: metadata?.deletionTimestamp !== undefined,
    computeReady: computeReady(status),
    ...(scheduled?.status === 'False'
      ? { unschedulable: { reason: scheduled.reason ?? '', message: scheduled.message ?? '' } }
      : {}),
    ...(unready === undefined ? {} : { unready }),
    ...(launcher?.image === undefined ? {} : { image: launcher.image }),
    ...(waiting === undefined ? {} : { waiting }),
    provenEnded: provenEnded(pod),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(reason === undefined ? {} : { reason }),
  };
};

/** Not the Pod's own readiness: its readiness gate and the user's probes wait for the guest. */
const computeReady = (status: PodStatus | undefined): boolean => {
  const containers = status?.containerStatuses ?? [];
  return (
    containers.some(({ name, state }) => name === COMPUTE && state?.running !== undefined) &&
    containers.every(({ name, ready }) => name === COMPUTE || ready)
  );
};

/** That the readiness gate is not open yet is our own doing. */
const unreadyWhy = (status: PodStatus | undefined): PodFacts['unready'] => {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined)
    return { reason: 'PodConditionMissing', message: 'the Pod says nothing of its readiness yet' };
  if (ready.status === 'True' || ready.reason === 'ReadinessGatesNotReady') return undefined;
  return { reason: ready.reason ?? 'ContainersNotReady', message: ready.message ?? '' };
};

const stuckContainer = (status: PodStatus): PodFacts['waiting'] => {
  for (const { name, state } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
    const { reason, message } = state?.waiting ?? {};
    if (reason !== undefined && !ON_ITS_WAY.has(reason)) return { container: name, reason, message: message ?? '' };
  }
  return undefined;
};

const reasonOf = (status: PodStatus | undefined, compute: ContainerStatus | undefined): string | undefined => {
  const own = [status?.reason, status?.message].filter((text) => text !== undefined && text !== '').join(': ');
  const container = compute?.state?.terminated?.reason;
  return own !== '' ? own : container;
};

/**
 * Reasons with which a kubelet refuses a Pod at its door (kubelet's admission handlers): phase Failed without a single container status, because
 * none was ever created.
 */
const REFUSED_BY_KUBELET =
  /^(OutOf.+|UnexpectedAdmissionError|NodeAffinity|TopologyAffinityError|SysctlForbidden|AppArmor)$/;

/**
 * Evidence (c) that nothing of this Pod runs any more: its kubelet says so. The Pod is final, each of its containers is reported as terminated
 * or as never created, and there is no DisruptionTarget condition: with it the phase may have been written by Pod garbage collection or by an
 * eviction, by somebody who cannot know.
 */
const provenEnded = ({ spec, status }: Pod): boolean => {
  if (status?.phase !== 'Succeeded' && status?.phase !== 'Failed') return false;
  if (isTrue({ status }, 'DisruptionTarget')) return false;
  const reported = status.containerStatuses ?? [];
  if (reported.length === 0) return status.reason !== undefined && REFUSED_BY_KUBELET.test(status.reason);
  const inits = status.initContainerStatuses ?? [];
  return (
    (spec?.containers ?? []).every(({ name }) => reported.some((container) => container.name === name)) &&
    [...reported, ...inits].every(ended)
  );
};

const ended = ({ state, lastState, containerID, restartCount }: ContainerStatus): boolean =>
  state?.terminated !== undefined ||
  (state?.running === undefined && isEmpty(containerID) && restartCount === 0 && lastState?.terminated === undefined);

const isEmpty = (text: string | undefined): boolean => text === undefined || text === '';
