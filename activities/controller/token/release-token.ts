import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { failure } from '../../failures.ts';
import type { ControllerPorts } from '../ports.ts';
import { occupantOf } from './decide.ts';
import { evidenceOf } from './evidence.ts';
import { remedy } from './rivals.ts';
import { freed, readToken, writeToken } from './store.ts';

/**
 * Frees the token if this VMI (and this epoch, if given) holds it; the epoch stays, so that it never repeats. Safe to run twice. Whoever calls has
 * proof for the holder's Pod, not for a second one: a token that a migration moves is freed only when both Pods are seen to have ended.
 * @throws TokenHeld
 */
export const releaseToken =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['releaseToken'] =>
  async ({ vmi, epoch }) => {
    const read = await readToken(kube, vmi);
    if (read?.token.holder?.vmiUid !== vmi.uid) return;
    if (epoch !== undefined && read.token.epoch !== epoch) return;
    if (read.token.moving !== undefined) {
      const occupant = occupantOf(read.token, await evidenceOf(kube, vmi.namespace, read.token));
      if (occupant !== undefined) throw failure('TokenHeld', `${occupant.why}. ${remedy(vmi, occupant.node)}`);
    }
    await writeToken(kube, vmi, freed(read.token), read);
  };
