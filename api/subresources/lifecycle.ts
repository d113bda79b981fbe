import type {
  StateChangeRequest,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '../kubevirt/types.ts';
import { KUBEVIRT_API_VERSION } from '../kubevirt/types.ts';
import { isTrue } from '../kubernetes/conditions.ts';
import type { OptionsOf } from './options.ts';
import type { Operation } from './patches.ts';
import { gracePeriodPatch, requestsPatch, runPatch } from './patches.ts';
import type { Status } from './status.ts';
import { badRequest, conflict, notFound } from './status.ts';

/** One change of an object. `undo` takes it back when a later one fails. */
export type Write =
  | { patch: 'VirtualMachine'; status: boolean; operations: Operation[] }
  | { patch: 'VirtualMachineInstance'; operations: Operation[]; undo?: Operation[] }
  | { create: VirtualMachineInstanceMigration };

/** What a request makes of objects, in this order, or why it is refused. */
export type Decision = { writes: Write[]; refusal?: undefined } | { refusal: Status };

/** A VM with its instance, if there is one. */
export interface Pair {
  vm: VirtualMachine;
  vmi?: VirtualMachineInstance | undefined;
}

export type LifecycleAction = 'start' | 'stop' | 'restart' | 'migrate';

/** What a request comes to, once its options and the objects are read. */
export const decideLifecycle = <A extends LifecycleAction>(action: A, pair: Pair, options: OptionsOf<A>): Decision => {
  const { metadata } = pair.vm;
  if (metadata?.deletionTimestamp !== undefined && action !== 'stop') return refuser(pair.vm)('VM is being deleted');
  const decide: (pair: Pair, options: OptionsOf<A>) => Decision = DECIDE[action];
  return decide(pair, options);
};

const RECOVERY =
  'VM recovery required: Volume migration failed, leaving some volumes pointing to non-consistent targets; manual intervention is needed to reassign them to their original volumes.';
const UNDERWAY = 'unable to complete request: stop/start already underway';

/** Starts a VM: Halted becomes Always, other strategies get a request. One that is being stopped starts again afterwards. */
export const decideStart = ({ vm, vmi }: Pair, { paused }: OptionsOf<'start'>): Decision => {
  const refuse = refuser(vm);
  const strategy = strategyOf(vm);
  if (isAlive(vmi) && !isStopping(vm, vmi, strategy)) return refuse('VM is already running');
  if (isTrue(vm, 'ManualRecoveryRequired')) return refuse(RECOVERY);
  const start: StateChangeRequest = { action: 'Start', ...(paused === true ? { data: { paused: 'true' } } : {}) };
  switch (strategy) {
    case 'Halted':
      if (paused === true && vm.spec.template.spec?.startStrategy !== 'Paused') return ask(vm, [start]);
      return { writes: [{ patch: 'VirtualMachine', status: false, operations: runPatch(vm, true) }] };
    case 'RerunOnFailure':
      if (vmi?.status?.phase === 'Failed') return refuse(`${strategy} does not support starting VM from failed state`);
      return ask(vm, [...stopsOfFinal(vmi), start]);
    case 'Manual':
      return ask(vm, [...stopsOfFinal(vmi), start]);
    default:
      return refuse(`${strategy} does not support manual start requests`);
  }
};

/** Stops a VM: Always and Once become Halted, other strategies get a request. A shorter grace period brings a stop under way forward. */
export const decideStop = ({ vm, vmi }: Pair, { gracePeriod }: OptionsOf<'stop'>): Decision => {
  const refuse = refuser(vm);
  const strategy = strategyOf(vm);
  if (gracePeriod !== undefined && gracePeriod < 0) return { refusal: badRequest(NEGATIVE) };
  const isRunning = vmi !== undefined && !isFinal(vmi);
  const shortened: Write[] =
    isRunning && gracePeriod !== undefined
      ? [{ patch: 'VirtualMachineInstance', ...gracePeriodPatch(vmi, gracePeriod) }]
      : [];
  switch (strategy) {
    case 'Always':
    case 'Once':
      return { writes: [...shortened, { patch: 'VirtualMachine', status: false, operations: runPatch(vm, false) }] };
    case 'Halted':
    case 'Manual':
    case 'RerunOnFailure': {
      if (!isRunning) return refuse('VM is not running');
      const before = vmi.spec.terminationGracePeriodSeconds;
      if (strategy === 'Halted' && (gracePeriod === undefined || (before !== undefined && gracePeriod >= before))) {
        return refuse(`${strategy} only supports manual stop requests with a shorter graceperiod`);
      }
      // Whatever was asked before, it is to be stopped.
      const operations = requestsPatch(vm, [stopOf(vmi)]);
      return { writes: [...shortened, { patch: 'VirtualMachine', status: true, operations }] };
    }
    default:
      return refuse(`${strategy} does not support manual stop requests`);
  }
};

const NEGATIVE = 'gracePeriod has to be greater or equal to 0';
/** Grace period of a forced restart, in seconds: the shortest with which a guest is still shut down, not cut off. */
const FORCED_SECONDS = 1;

/** Restarts a VM: one request to stop the instance that runs now, and one to start another. */
export const decideRestart = ({ vm, vmi }: Pair, { gracePeriodSeconds: seconds }: OptionsOf<'restart'>): Decision => {
  const refuse = refuser(vm);
  const strategy = strategyOf(vm);
  if (seconds !== undefined && seconds > 0) {
    return { refusal: badRequest('For force restart, only gracePeriod=0 is supported for now') };
  }
  if (seconds !== undefined && seconds < 0) return { refusal: badRequest(NEGATIVE) };
  if (isTrue(vm, 'VolumesChange')) return refuse(RECOVERY);
  if (!['Always', 'Manual', 'RerunOnFailure'].includes(strategy)) {
    return refuse(`RunStategy ${strategy} does not support manual restart requests`);
  }
  if (vmi === undefined) return refuse('VM is not running: Halted');
  const asked = ask(vm, [stopOf(vmi), { action: 'Start' }]);
  if (asked.refusal !== undefined || seconds === undefined || isFinal(vmi)) return asked;
  const forced: Write = { patch: 'VirtualMachineInstance', ...gracePeriodPatch(vmi, FORCED_SECONDS) };
  return { writes: [forced, ...asked.writes] };
};

/** Migrates the VM's instance: an object of its own, as a user would create it. */
export const decideMigrate = (
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
  { addedNodeSelector }: OptionsOf<'migrate'>,
): Decision => {
  if (vmi.status?.phase !== 'Running') return refuser(vm)('VM is not running');
  const { namespace = '', name = '' } = vmi.metadata ?? {};
  const migration: VirtualMachineInstanceMigration = {
    apiVersion: KUBEVIRT_API_VERSION,
    kind: 'VirtualMachineInstanceMigration',
    metadata: { namespace, generateName: 'kubevirt-migrate-vm-' },
    spec: { vmiName: name, ...(addedNodeSelector === undefined ? {} : { addedNodeSelector }) },
  };
  return { writes: [{ create: migration }] };
};

const DECIDE: { [A in LifecycleAction]: (pair: Pair, options: OptionsOf<A>) => Decision } = {
  start: decideStart,
  stop: decideStop,
  restart: decideRestart,
  migrate: ({ vm, vmi }, options) =>
    vmi === undefined
      ? { refusal: notFound('virtualmachineinstance', vm.metadata?.name ?? '') }
      : decideMigrate(vm, vmi, options),
};

const refuser =
  ({ metadata }: VirtualMachine) =>
  (why: string): { refusal: Status } => ({ refusal: conflict('virtualmachine', metadata?.name ?? '', why) });

export const strategyOf = ({ spec: { running, runStrategy } }: VirtualMachine): string =>
  running === undefined ? (runStrategy ?? 'Halted') : running ? 'Always' : 'Halted';

const isFinal = ({ status }: VirtualMachineInstance): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** There is an instance that has begun and not ended. */
export const isAlive = (vmi: VirtualMachineInstance | undefined): vmi is VirtualMachineInstance =>
  vmi !== undefined && !isFinal(vmi) && !['', 'Unknown'].includes(vmi.status?.phase ?? '');

/** The instance runs still, but its end is settled: it is being deleted, its VM is to be halted, or a stop stands in the list. */
export const isStopping = (vm: VirtualMachine, { metadata }: VirtualMachineInstance, strategy: string): boolean =>
  metadata?.deletionTimestamp !== undefined ||
  strategy === 'Halted' ||
  requestsOf(vm).some(({ action, uid }) => action === 'Stop' && uid === metadata?.uid);

/** An instance that has ended makes room for the next. */
const stopsOfFinal = (vmi: VirtualMachineInstance | undefined): StateChangeRequest[] =>
  vmi !== undefined && isFinal(vmi) ? [stopOf(vmi)] : [];

const stopOf = ({ metadata }: VirtualMachineInstance): StateChangeRequest => ({
  action: 'Stop',
  ...(metadata?.uid === undefined ? {} : { uid: metadata.uid }),
});

export const requestsOf = ({ status }: VirtualMachine): StateChangeRequest[] => status?.stateChangeRequests ?? [];

/** Puts requests into an empty list, or a lone start behind the stop that is under way. */
const ask = (vm: VirtualMachine, requests: StateChangeRequest[]): Decision => {
  const queued = requestsOf(vm);
  const isStopAlone = queued.length === 1 && queued[0]?.action === 'Stop';
  const isStartAlone = requests.length === 1 && requests[0]?.action === 'Start';
  if (queued.length > 0 && !(isStopAlone && isStartAlone)) return refuser(vm)(UNDERWAY);
  return {
    writes: [{ patch: 'VirtualMachine', status: true, operations: requestsPatch(vm, [...queued, ...requests]) }],
  };
};
