import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { runToken } from '../../facts/token.ts';
import { failure } from '../../failures.ts';
import type { TokenPorts } from '../ports.ts';
import { decideAcquire } from './decide.ts';
import { evidenceOf } from './evidence.ts';
import { refuseRivals, remedy } from './rivals.ts';
import { goneToken } from './store.ts';

/** Takes the run token for an attempt of a VMI. Safe to run twice: the same attempt keeps its epoch. @throws TokenHeld, StaleToken */
export const acquireToken =
  ({ kube, tokens }: TokenPorts): ControllerActivities['acquireToken'] =>
  async ({ vmi, attempt }) => {
    const token = await tokens.change(vmi, async (read) => {
      const evidence = read === undefined ? {} : await evidenceOf(kube, vmi.namespace, read.token);
      const decision = decideAcquire(read?.token, { vmiUid: vmi.uid, attempt }, evidence);
      if (decision.kind === 'held') return undefined;
      if (decision.kind === 'refused') throw failure(decision.type, `${decision.why}. ${remedy(vmi, decision.node)}`);
      const isAlone = await refuseRivals(kube, vmi, ({ createdBy }) => createdBy === vmi.uid);
      return { token: decision.token, isAlone };
    });
    if (token === undefined) throw goneToken(vmi);
    return runToken(token);
  };
