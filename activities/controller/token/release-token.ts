import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { ControllerPorts } from '../ports.ts';
import { readToken, writeToken } from './store.ts';

/** Frees the token if this VMI (and this epoch, if given) holds it; the epoch stays, so that it never repeats. Safe to run twice. */
export const releaseToken =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['releaseToken'] =>
  async ({ vmi, epoch }) => {
    const read = await readToken(kube, vmi);
    if (read?.token.holder?.vmiUid !== vmi.uid) return;
    if (epoch !== undefined && read.token.epoch !== epoch) return;
    await writeToken(kube, vmi, { epoch: read.token.epoch }, read);
  };
