import type { PodRef } from '../../../api/contract/refs.ts';
import { podFacts } from '../../facts/pod.ts';
import { liveFence } from '../../fencing.ts';
import type { Token } from '../../facts/token.ts';
import type { KubePort } from '../../kube/port.ts';
import type { PodEvidence, TokenEvidence } from './decide.ts';

/** What the API server says, live, of every Pod that the token names. */
export const evidenceOf = async (kube: KubePort, namespace: string, token: Token): Promise<TokenEvidence> => {
  const [holder, moving] = [token.holder?.pod, token.moving?.pod];
  return {
    ...(holder === undefined ? {} : { holder: await podEvidence(kube, namespace, holder) }),
    ...(moving === undefined ? {} : { moving: await podEvidence(kube, namespace, moving) }),
  };
};

const podEvidence = async (kube: KubePort, namespace: string, { name, uid, node }: PodRef): Promise<PodEvidence> => {
  const pod = await kube.get('Pod', { namespace, name });
  const fence = node === undefined || node === '' ? undefined : await liveFence(kube, node);
  return {
    pod: pod?.metadata?.uid === uid ? podFacts(pod) : 'gone',
    fenced: fence !== undefined,
  };
};
