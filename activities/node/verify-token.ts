import { tokenName } from '../../api/contract/refs.ts';
import { runToken, tokenOf } from '../facts/token.ts';
import { failure } from '../failures.ts';
import type { NodePorts } from './ports.ts';
import type { OnPod } from './verify.ts';

/**
 * Live read of the run token: the domain may start in this Pod under this epoch, and under no other.
 * @throws StaleToken
 */
export const verifyToken = async (
  { kube, node }: Pick<NodePorts, 'kube' | 'node'>,
  { vmi, pod, epoch }: OnPod & { epoch: number },
): Promise<void> => {
  const name = `run token ${vmi.namespace}/${tokenName(vmi)}`;
  const refuse = (why: string): Error => failure('StaleToken', `the ${name} ${why}: the domain is not started`);
  const lease = await kube.get('Lease', { namespace: vmi.namespace, name: tokenName(vmi) });
  if (lease === undefined) throw refuse('does not exist');
  const token = runToken(tokenOf(lease));
  if (token.epoch !== epoch) throw refuse(`is at epoch ${token.epoch}, not at ${epoch}`);
  if (token.holder?.vmiUid !== vmi.uid)
    throw refuse(`is held by ${token.holder?.vmiUid ?? 'nobody'}, not by VMI ${vmi.uid}`);
  // Only a bound token keeps others away: before, whoever comes next may take it.
  if (token.holder.podUid !== pod.uid) throw refuse(`names Pod ${token.holder.podUid ?? '(none)'}, not ${pod.uid}`);
  if (token.holder.node !== undefined && token.holder.node !== node) {
    throw refuse(`names node ${token.holder.node}, not ${node}`);
  }
};
