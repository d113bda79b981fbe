import type { VirtualMachine, VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { KUBEVIRT_API_VERSION } from '../../api/kubevirt/types.ts';
import { decideLifecycle } from '../../api/subresources/lifecycle.ts';
import type { KnownTrigger, Trigger, TriggerAction, TriggerRefusal } from '../../api/contract/triggers.ts';
import { TRIGGER_KEY, triggerId } from '../../api/contract/triggers.ts';
import type { VirtualMachineState } from './state.ts';
import { obstacleOf } from './strategies.ts';

/** Triggers that an entity remembers, and how many of them may be under way at once. */
export const REMEMBERED_TRIGGERS = 32;

/**
 * Why the VM does not take a trigger now; undefined: it does. Judged by the front door's rules on what the entity knows; they are asked again, of the
 * live objects, when the change is made. One that is known is never refused. Anybody may send anything: nothing of it is taken for granted.
 */
export const refusalOf = (
  state: VirtualMachineState,
  action: TriggerAction,
  asked: unknown,
): TriggerRefusal | undefined => {
  const trigger = readTrigger(asked);
  if (typeof trigger === 'string') return refused(trigger);
  const known = state.triggers ?? [];
  if (known.some(({ id }) => id === triggerId(state.ref, action, trigger.key))) return undefined;
  if (known.filter(({ open }) => open).length >= REMEMBERED_TRIGGERS)
    return refused(
      `${REMEMBERED_TRIGGERS} requests of other services are under way for this VM: wait for the end of one.`,
    );
  const { object, instance, released } = state;
  if (released || object?.gone === true) return refused('the VM is gone.');
  if (object === undefined || state.adoption !== 'done')
    return { type: 'NotYet', message: 'the VM is being looked at: ask again in a moment.' };
  if (action === 'retry')
    return instance === undefined ? refused('the VM has no instance, so no operation to retry: start it.') : undefined;
  const obstacle = action === 'start' || action === 'restart' ? obstacleOf(state) : undefined;
  if (obstacle !== undefined) return refused(obstacle.message);
  const { refusal } = decideLifecycle(action, objectsOf(state), trigger.options ?? {});
  return refusal === undefined ? undefined : refused(refusal.message);
};

const refused = (message: string): TriggerRefusal => ({ type: 'Refused', message });

/** A trigger, or what is wrong with it. */
export const readTrigger = (asked: unknown): Trigger | string => {
  if (!isRecord(asked)) return 'the request is no object: send { key, options }.';
  const { key, options } = asked;
  if (typeof key !== 'string' || !TRIGGER_KEY.test(key))
    return 'key is missing or cannot be used: 1 to 63 letters, digits, ".", "_", ":" or "-", the first one a letter or digit.';
  if (options !== undefined && !isRecord(options)) return 'options is no object.';
  return { key, ...(options === undefined ? {} : { options }) };
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects as far as the rules look at them. */
const objectsOf = ({
  ref: { namespace, name, uid },
  object,
  instance,
}: VirtualMachineState): { vm: VirtualMachine; vmi?: VirtualMachineInstance } => {
  const when = '1970-01-01T00:00:00Z';
  const vm: VirtualMachine = {
    ...{ apiVersion: KUBEVIRT_API_VERSION, kind: 'VirtualMachine' },
    metadata: { namespace, name, uid, ...(object?.deleting === true ? { deletionTimestamp: when } : {}) },
    spec: { runStrategy: object?.runStrategy ?? '', template: { spec: NO_SPEC } },
    status: {
      stateChangeRequests: object?.stateChangeRequests ?? [],
      conditions: object?.manualRecovery === true ? [{ type: 'ManualRecoveryRequired', status: 'True' }] : [],
    },
  };
  if (instance === undefined) return { vm };
  const { vmi, phase, deleting, gracePeriodSeconds } = instance;
  return {
    vm,
    vmi: {
      ...{ apiVersion: KUBEVIRT_API_VERSION, kind: 'VirtualMachineInstance' },
      metadata: { namespace, name, uid: vmi.uid, ...(deleting ? { deletionTimestamp: when } : {}) },
      spec: { ...NO_SPEC, terminationGracePeriodSeconds: gracePeriodSeconds },
      status: { phase },
    },
  };
};

const NO_SPEC: VirtualMachineInstance['spec'] = { domain: { devices: {} } };

/** Remembers a trigger: of those that are over the oldest is forgotten first. Its operation's id stays taken all the same. */
export const remembering = (known: KnownTrigger[], id: string): KnownTrigger[] => {
  const all = [...known, { id, open: true }];
  const spare = all.length > REMEMBERED_TRIGGERS ? all.findIndex(({ open }) => !open) : -1;
  return spare < 0 ? all : all.toSpliced(spare, 1);
};

/** Its operation is over, or there is none. */
export const closed = (known: KnownTrigger[], id: string): KnownTrigger[] =>
  known.map((trigger) => (trigger.id === id ? { id, open: false } : trigger));
