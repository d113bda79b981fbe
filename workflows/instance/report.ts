import type { InstanceReport } from '../../api/contract/activities.ts';
import type { PodFacts } from '../../api/contract/facts.ts';
import type { StartShown } from '../../api/contract/operations.ts';
import { NODE_UNRESPONSIVE } from '../../api/contract/nodes.ts';
import { conditionsOf } from './conditions.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { withStart } from './phases.ts';
import type { InstanceState } from './state.ts';
import { initialState } from './state.ts';

/** What the VMI's status shows of the entity's state. */
export const reportOf = (state: InstanceState): InstanceReport => {
  const { pod, podFacts, domain, end, phase, phaseTimes } = state;
  const node = pod?.node;
  const launcherImage = podFacts?.image;
  return {
    phase: phase === '' ? 'Pending' : phase,
    phaseTimes,
    activePods: activePods(state),
    conditions: conditionsOf(state),
    ...(node === undefined ? {} : { node }),
    ...(domain === undefined ? {} : { domain }),
    ...(end === undefined ? {} : { end, reason: end === 'nodeLost' ? NODE_UNRESPONSIVE : `guest ended: ${end}` }),
    ...(launcherImage === undefined ? {} : { launcherImage }),
    ...migrationOf(state),
  };
};

/** The same of a start that its entity has heard nothing of. */
export const reportOfStart = (vmi: ObjectRef, start: StartShown): InstanceReport => {
  const { name, uid, node } = start.podFacts;
  const pod = { name, uid, ...(node === undefined ? {} : { node }) };
  return reportOf(withStart({ ...initialState(vmi), pod, started: true }, start));
};

/** What a migration has left to do is not for the status. */
const migrationOf = ({ migration }: InstanceState): Pick<InstanceReport, 'migration'> => {
  if (migration === undefined) return {};
  const { stays: _, ...told } = migration;
  return { migration: told };
};

/**
 * Pods that live. A migration's target counts from when a node was chosen for it, the Pod that the guest has left until it is gone; one that has ended
 * counts no more, whether or not its object is still there.
 */
const activePods = ({ pod, podFacts, target, former }: InstanceState): Record<string, string> => {
  const all = [
    isLive(podFacts) ? pod : undefined,
    target?.pod.node !== undefined && isLive(target.facts) ? target.pod : undefined,
    former,
  ];
  return Object.fromEntries(all.flatMap((one) => (one === undefined ? [] : [[one.uid, one.node ?? '']])));
};

const isLive = (facts: PodFacts | undefined): boolean =>
  facts?.gone !== true && facts?.provenEnded !== true && facts?.phase !== 'Succeeded' && facts?.phase !== 'Failed';

/** Whether the object looks like this since its creation, so that a write would be for nothing: without a phase it is as good as Pending. */
export const isAsCreated = ({ object }: InstanceState, report: InstanceReport): boolean =>
  (object?.phase === 'Pending' || object?.phase === '') &&
  report.phase === 'Pending' &&
  Object.keys(report.activePods).length === 0 &&
  report.conditions.every(({ type }) => type === 'Ready');

const STARTING = ['Pending', 'Scheduling', 'Scheduled'];
/** Conditions that are bad when they are true. */
const OBSTACLES = ['Provisioning', NODE_UNRESPONSIVE];

/**
 * What makes a report worth a write. Until the guest runs: another phase, another Pod, another obstacle; everything else comes with the next phase.
 * From then on everything but the running numbers and times of domain reports.
 */
export const reportKey = ({ domain, ...report }: InstanceReport): string => {
  if (STARTING.includes(report.phase)) {
    const obstacles = report.conditions.filter(
      ({ type, status }) => type !== 'Ready' && status === (OBSTACLES.includes(type) ? 'True' : 'False'),
    );
    return JSON.stringify([report.phase, Object.keys(report.activePods), obstacles]);
  }
  if (domain === undefined) return JSON.stringify(report);
  const { sequence: _sequence, at: _at, migrationUid: _uid, ...rest } = domain;
  return JSON.stringify({ ...report, domain: rest });
};
