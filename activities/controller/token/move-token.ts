import type { ControllerActivities, RunToken } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { tokenName } from '../../../api/contract/refs.ts';
import type { Token } from '../../facts/token.ts';
import { runToken } from '../../facts/token.ts';
import { failure } from '../../failures.ts';
import type { TokenPorts } from '../ports.ts';
import type { MoveDecision } from './decide-move.ts';
import { decideMove, decideRecord, decideStay } from './decide-move.ts';
import type { Tokens } from './store.ts';

type Ports = Pick<TokenPorts, 'tokens'>;

/** The token says "moving from source to target". Safe to repeat. @throws StaleToken */
export const recordMove =
  ({ tokens }: Ports): ControllerActivities['recordMove'] =>
  (request) =>
    change(tokens, request.vmi, (token) => decideRecord(token, request));

/** Takes `moving` back: the source holds the domain. Only once that is proven. @throws StaleToken */
export const tokenStays =
  ({ tokens }: Ports): ControllerActivities['tokenStays'] =>
  (request) =>
    change(tokens, request.vmi, (token) => decideStay(token, request));

/** The target is the holder, under a new epoch; safe to repeat. Only once the source is proven gone. @throws StaleToken */
export const moveToken =
  ({ tokens }: Ports): ControllerActivities['moveToken'] =>
  (request) =>
    change(tokens, request.vmi, (token) => decideMove(token, request));

/** The token as it is, live. */
export const readToken =
  ({ tokens }: Ports): ControllerActivities['readToken'] =>
  async (vmi) => {
    const read = await tokens.read(vmi);
    return read === undefined ? undefined : runToken(read.token);
  };

/** Whoever writes in between makes this a conflict: it is not tried again here, since what was decided may not hold any more. */
const change = async (tokens: Tokens, vmi: ObjectRef, decide: (token: Token) => MoveDecision): Promise<RunToken> => {
  const name = `run token ${vmi.namespace}/${tokenName(vmi)}`;
  const read = await tokens.read(vmi);
  if (read === undefined) throw failure('StaleToken', `The ${name} does not exist.`);
  const decision = decide(read.token);
  if (decision.kind === 'stale') throw failure('StaleToken', `The ${name} ${decision.why}.`);
  return runToken(decision.kind === 'done' ? read.token : await tokens.write(vmi, { token: decision.token }, read));
};
