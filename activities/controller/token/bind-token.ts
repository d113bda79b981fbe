import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { runToken } from '../../facts/token.ts';
import { failure } from '../../failures.ts';
import type { ControllerPorts } from '../ports.ts';
import { readToken, writeToken } from './store.ts';

/** Records Pod and node in the token. Safe to run twice. @throws StaleToken when epoch, VMI or Pod are others by now */
export const bindToken =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['bindToken'] =>
  async ({ vmi, epoch, pod }) => {
    const read = await readToken(kube, vmi);
    const holder = read?.token.holder;
    if (read === undefined || holder?.vmiUid !== vmi.uid || read.token.epoch !== epoch) {
      const now = read === undefined ? 'gone' : `at epoch ${read.token.epoch} of VMI ${holder?.vmiUid ?? 'nobody'}`;
      throw failure(
        'StaleToken',
        `The run token of ${vmi.namespace}/${vmi.name} is ${now}, not at epoch ${epoch} of ${vmi.uid}.`,
      );
    }
    if (holder.pod !== undefined && holder.pod.uid !== pod.uid) {
      throw failure(
        'StaleToken',
        `Epoch ${epoch} is bound to Pod ${holder.pod.name} (${holder.pod.uid}), not to ${pod.name} (${pod.uid}).`,
      );
    }
    if (holder.pod !== undefined && holder.pod.node === pod.node) return runToken(read.token);
    return runToken(await writeToken(kube, vmi, { ...read.token, holder: { ...holder, pod } }, read));
  };
