import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { runToken } from '../../facts/token.ts';
import { failure } from '../../failures.ts';
import type { ControllerPorts } from '../ports.ts';
import { decideAcquire } from './decide.ts';
import { evidenceOf } from './evidence.ts';
import { refuseRivals, remedy } from './rivals.ts';
import { readToken, writeToken } from './store.ts';

/** Takes the run token for an attempt of a VMI. Safe to run twice: the same attempt keeps its epoch. @throws TokenHeld, StaleToken */
export const acquireToken =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['acquireToken'] =>
  async ({ vmi, attempt }) => {
    const read = await readToken(kube, vmi);
    const evidence = read === undefined ? {} : await evidenceOf(kube, vmi.namespace, read.token);
    const decision = decideAcquire(read?.token, { vmiUid: vmi.uid, attempt }, evidence);
    if (decision.kind === 'held' && read !== undefined) return runToken(read.token);
    if (decision.kind === 'refused') throw failure(decision.type, `${decision.why}. ${remedy(vmi, decision.node)}`);
    await refuseRivals(kube, vmi, ({ createdBy }) => createdBy === vmi.uid);
    const token = decision.kind === 'take' ? decision.token : { epoch: 1, holder: { vmiUid: vmi.uid, attempt } };
    return runToken(await writeToken(kube, vmi, token, read));
  };
