import type { LeavingStatus } from '../../api/contract/evacuation.ts';
import { clause, command } from '../words.ts';
import type { Facts, Stage, Standing } from './facts.ts';
import { ok, unknown } from './facts.ts';

/** How it stands with a guest that is asked to leave its node; undefined: it is not. */
export function walkEvacuation(facts: Facts): Stage | undefined {
  const { evacuationNodeName, nodeName } = facts.vmi?.status ?? {};
  const told = leavingOf(facts);
  const isAsked = evacuationNodeName !== undefined && evacuationNodeName !== '' && evacuationNodeName === nodeName;
  if (!isAsked && told === undefined) return undefined;
  return { stage: 'evacuation', ...(told === undefined ? untold(facts) : standingOf(facts, told)) };
}

/** What the workflow that empties the node says of this guest. */
function leavingOf({ vmi, temporal }: Facts): LeavingStatus | undefined {
  const { evacuation } = temporal.answered ? temporal.value : {};
  if (evacuation === undefined || !evacuation.answered) return undefined;
  return evacuation.value?.leaving.find(({ vmi: one }) => one.uid === vmi?.metadata?.uid);
}

function untold({ temporal, vmi }: Facts): Standing {
  if (!temporal.answered) return unknown(temporal.why);
  const { evacuation } = temporal.value;
  if (evacuation?.answered === false) return unknown(evacuation.why);
  return {
    state: 'waiting',
    why: `nothing empties node ${vmi?.status?.nodeName ?? ''} yet`,
    remedy: 'wait a moment and look again; if that stays, check the controller worker (kubectl get pods -n virtflow)',
  };
}

function standingOf({ name }: Facts, { standing, migration, why, nextTryAt }: LeavingStatus): Standing {
  const waits = (remedy: string): Standing => ({ state: 'waiting', by: standing, why: clause(why), remedy });
  switch (standing) {
    case 'moving':
      return ok(`it leaves its node by migration ${migration ?? ''}`);
    case 'beginning':
      return ok(why);
    case 'backingOff':
      return waits(`it is tried again at ${nextTryAt ?? 'the next look'}; at once: ${command('migrate', name)}`);
    case 'refused':
      return waits(`settle what refuses it; it is tried again at ${nextTryAt ?? 'the next look'}`);
    case 'obstructed':
      return waits(`settle that, or stop the VM so that its node can be emptied: ${command('stop', name)}`);
  }
}
