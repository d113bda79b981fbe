import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { failure } from '../../failures.ts';
import type { TokenPorts } from '../ports.ts';
import { occupantOf } from './decide.ts';
import { evidenceOf } from './evidence.ts';
import { remedy } from './rivals.ts';
import { freed } from './store.ts';

/**
 * Frees the token if this VMI (and this epoch, if given) holds it; the epoch stays, so that it never repeats. Safe to run twice. Whoever calls has
 * proof for the holder's Pod, not for a second one: a token that a migration moves is freed only when both Pods are seen to have ended.
 * @throws TokenHeld
 */
export const releaseToken =
  ({ kube, tokens }: TokenPorts): ControllerActivities['releaseToken'] =>
  async ({ vmi, epoch }) => {
    await tokens.change(vmi, async (read) => {
      if (read?.token.holder?.vmiUid !== vmi.uid) return undefined;
      if (epoch !== undefined && read.token.epoch !== epoch) return undefined;
      if (read.token.moving !== undefined) {
        const occupant = occupantOf(read.token, await evidenceOf(kube, vmi.namespace, read.token));
        if (occupant !== undefined) throw failure('TokenHeld', `${occupant.why}. ${remedy(vmi, occupant.node)}`);
      }
      return { token: freed(read.token) };
    });
  };
