import type { Node, Pod } from '../../../api/kubernetes/types.ts';
import { quantityValue } from '../../../api/kubernetes/quantity.ts';
import { pauseImage } from '../../../deploy/local/cluster/configs.ts';
import { until } from '../../support/until.ts';
import { apply, getObject, kubectl } from './kubectl.ts';

const MIB = 1024 * 1024;

/** Takes all memory of a node that Pods may ask for, but for some MiB. @returns what gives it back */
export async function takeRoom(node: string, leftMib: number, namespace: string): Promise<() => Promise<string>> {
  const name = 'room';
  const free = await freeMemory(node);
  const remove = () => kubectl(['delete', 'pod', name, '-n', namespace, '--ignore-not-found', '--wait']);
  await remove();
  const memory = String(free - leftMib * MIB);
  await apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      nodeName: node,
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      containers: [{ name, image: pauseImage, imagePullPolicy: 'Never', resources: { requests: { memory } } }],
    },
  });
  const status = async () => (await getObject<Pod>('pod', name, namespace))?.status;
  await until(`Pod ${name} runs`, async () => (await status())?.phase === 'Running', { everyMs: 500, seen: status });
  return remove;
}

async function freeMemory(node: string): Promise<number> {
  const allocatable = (await getObject<Node>('node', node, ''))?.status?.allocatable?.['memory'];
  const selector = `spec.nodeName=${node},status.phase!=Succeeded,status.phase!=Failed`;
  const pods = JSON.parse(await kubectl(['get', 'pods', '-A', '--field-selector', selector, '-o', 'json'])) as {
    items: Pod[];
  };
  const requests = pods.items.flatMap(({ spec }) =>
    [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ resources }) =>
      quantityValue(String(resources?.requests?.['memory'] ?? '0')),
    ),
  );
  return quantityValue(String(allocatable)) - requests.reduce((sum, one) => sum + one, 0);
}
