import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { runToken } from '../../facts/token.ts';
import { failure } from '../../failures.ts';
import type { TokenPorts } from '../ports.ts';
import { goneToken } from './store.ts';

/** Records Pod and node in the token. Safe to run twice. @throws StaleToken when epoch, VMI or Pod are others by now */
export const bindToken =
  ({ tokens }: Pick<TokenPorts, 'tokens'>): ControllerActivities['bindToken'] =>
  async ({ vmi, epoch, pod }) => {
    const bound = await tokens.change(vmi, (read) => {
      const holder = read?.token.holder;
      if (read === undefined) throw goneToken(vmi);
      if (holder?.vmiUid !== vmi.uid || read.token.epoch !== epoch) {
        const now = `at epoch ${read.token.epoch} of VMI ${holder?.vmiUid ?? 'nobody'}`;
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
      if (holder.pod !== undefined && holder.pod.node === pod.node) return undefined;
      return { token: { ...read.token, holder: { ...holder, pod } } };
    });
    if (bound === undefined) throw goneToken(vmi);
    return runToken(bound);
  };
