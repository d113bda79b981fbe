import type { ControllerActivities } from '../../../../api/contract/activities.ts';
import type { Triggered, TriggerEffect } from '../../../../api/contract/triggers.ts';
import type { Write } from '../../../../api/subresources/lifecycle.ts';
import { decideLifecycle } from '../../../../api/subresources/lifecycle.ts';
import { refOf } from '../../../facts/virtual-machine.ts';
import { failure } from '../../../failures.ts';
import type { KubePort } from '../../../kube/port.ts';
import type { ControllerPorts } from '../../ports.ts';
import { onConflictAgain } from '../../races.ts';
import { recordEvent } from '../../record-event.ts';
import type { Change } from './already-made.ts';
import { alreadyMade } from './already-made.ts';
import { applyWrites } from './apply-writes.ts';
import { migrate } from './migrate.ts';
import { optionsOf, readPair } from './read.ts';
import { retry } from './retry.ts';

type Ports = Pick<ControllerPorts, 'kube' | 'workflows' | 'log'>;

/**
 * Makes the change of objects that a user would make, by the rules of the front door, or finds it made.
 * @throws Refused, ObjectGone
 */
export const performTrigger =
  (ports: Ports): ControllerActivities['performTrigger'] =>
  async (trigger) => {
    const { action, operationId, vm } = trigger;
    const effect = await perform(ports, trigger);
    // Told beside: nobody waits for it.
    const message = `Another service asked to ${action} (${operationId}): ${effect.message}`;
    void recordEvent(ports, { kind: 'VirtualMachine', ref: vm, reason: 'Triggered', message, once: operationId });
    return effect;
  };

const perform = (ports: Ports, trigger: Triggered): Promise<TriggerEffect> => {
  switch (trigger.action) {
    case 'start':
    case 'stop':
    case 'restart':
      return change(ports.kube, trigger, trigger.action);
    case 'migrate':
      return migrate(ports.kube, trigger);
    case 'retry':
      return retry(ports, trigger);
  }
};

const change = (kube: KubePort, trigger: Triggered, action: Change['action']): Promise<TriggerEffect> =>
  onConflictAgain(async () => {
    const options = optionsOf(action, trigger.options);
    const pair = await readPair(kube, trigger.vm);
    const made = alreadyMade({ action, options, instance: trigger.instance }, pair);
    if (made !== undefined) return { message: made };
    const decision = decideLifecycle(action, pair, options);
    if (decision.refusal !== undefined) throw failure('Refused', decision.refusal.message);
    const { vmi } = pair;
    const on = { VirtualMachine: trigger.vm, VirtualMachineInstance: vmi === undefined ? undefined : refOf(vmi) };
    await applyWrites(kube, on, decision.writes);
    return { message: decision.writes.map(inWords).join(', ') };
  });

/** What is changed, for people: "requests of VirtualMachine", "terminationGracePeriodSeconds of VirtualMachineInstance". */
const inWords = (write: Write): string => {
  if ('create' in write) return 'created';
  const fields = write.operations.flatMap(({ op, path }) => (op === 'test' ? [] : [path.split('/').at(-1)]));
  return `${write.patch}: ${fields.join(', ')} set`;
};
