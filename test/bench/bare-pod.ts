import type { Pod } from '../../api/kubernetes/types.ts';
import { pauseImage } from '../../deploy/local/cluster/configs.ts';
import { kubectl } from '../e2e/support/kubectl.ts';
import { NAMESPACE } from '../e2e/support/vms.ts';
import { timeFromCreation } from './timed.ts';

/** What Kubernetes itself takes to run something: a Pod of the pause image as `kubectl run` makes it, from its creation to Ready; ms. */
export async function timeBarePod(): Promise<number> {
  const name = `bare-${Date.now()}`;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'bare', image: pauseImage, imagePullPolicy: 'IfNotPresent' }],
    },
  };
  const holds = ({ status }: Pod): boolean =>
    status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
  try {
    const [ready] = await timeFromCreation('Pod', pod, [{ kind: 'Pod', what: 'Ready', holds }]);
    return ready?.ms ?? NaN;
  } finally {
    // To its end, so that it is not in the way of what is timed next.
    await kubectl(['delete', 'pod', name, '-n', NAMESPACE, '--ignore-not-found']);
  }
}
