import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { isFenced } from '../../facts/fence.ts';
import type { Holder } from '../../facts/token.ts';
import { runToken } from '../../facts/token.ts';
import { podFacts } from '../../facts/pod.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';
import type { HolderEvidence } from './decide.ts';
import { decideAcquire } from './decide.ts';
import { refuseRivals, remedy } from './rivals.ts';
import { readToken, writeToken } from './store.ts';

/** Takes the run token for an attempt of a VMI. Safe to run twice: the same attempt keeps its epoch. @throws TokenHeld, StaleToken */
export const acquireToken =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['acquireToken'] =>
  async ({ vmi, attempt }) => {
    const read = await readToken(kube, vmi);
    const holder = read?.token.holder;
    const evidence = holder?.pod === undefined ? undefined : await evidenceOf(kube, vmi.namespace, holder.pod);
    const decision = decideAcquire(read?.token, { vmiUid: vmi.uid, attempt }, evidence);
    if (decision.kind === 'held' && read !== undefined) return runToken(read.token);
    if (decision.kind === 'refused') throw failure(decision.type, `${decision.why}. ${remedy(vmi, holder?.pod?.node)}`);
    await refuseRivals(kube, vmi, ({ createdBy }) => createdBy === vmi.uid);
    const token = decision.kind === 'take' ? decision.token : { epoch: 1, holder: { vmiUid: vmi.uid, attempt } };
    return runToken(await writeToken(kube, vmi, token, read));
  };

const evidenceOf = async (
  kube: KubePort,
  namespace: string,
  { name, uid, node }: NonNullable<Holder['pod']>,
): Promise<HolderEvidence> => {
  const pod = await kube.get('Pod', { namespace, name });
  const host = node === undefined ? undefined : await kube.get('Node', { name: node });
  return {
    pod: pod?.metadata?.uid === uid ? podFacts(pod) : 'gone',
    fenced: host !== undefined && isFenced(host),
  };
};
