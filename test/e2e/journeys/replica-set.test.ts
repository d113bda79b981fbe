import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { VirtualMachineInstance, VirtualMachineInstanceReplicaSet } from '../../../api/kubevirt/types.ts';
import { until } from '../../support/until.ts';
import { apply, getObject, kubectl, listObjects } from '../support/kubectl.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { NAMESPACE, guestSpec } from '../support/vms.ts';

jest.setTimeout(300_000);

const NAME = 'flock';
const instances = (): Promise<VirtualMachineInstance[]> => listObjects('vmi', NAMESPACE, `app=${NAME}`);
const statusOf = async () =>
  (await getObject<VirtualMachineInstanceReplicaSet>('vmirs', NAME, NAMESPACE))?.status ?? {};
const untilReady = (replicas: number) =>
  until(
    `${replicas} of ${replicas} VMIs are ready`,
    async () => {
      const status = await statusOf();
      return status.replicas === replicas && status.readyReplicas === replicas;
    },
    { timeoutMs: 180_000, everyMs: 500, seen: statusOf },
  );
const remove = (): Promise<string> =>
  kubectl([
    'delete',
    'vmirs',
    NAME,
    '-n',
    NAMESPACE,
    '--ignore-not-found',
    '--cascade=foreground',
    '--wait',
    '--timeout=180s',
  ]);

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await remove();
});
afterAll(remove);

test('a replica set has as many VMIs as are wanted: scaled up and down, one that is deleted is replaced, all go with it', async () => {
  await apply({
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstanceReplicaSet' },
    metadata: { name: NAME, namespace: NAMESPACE },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: NAME } },
      template: { metadata: { labels: { app: NAME } }, spec: guestSpec({ gracePeriodSeconds: 5 }) },
    },
  });
  await untilReady(1);
  const [first] = await instances();
  await kubectl(['scale', 'vmirs', NAME, '-n', NAMESPACE, '--replicas=2']);
  await untilReady(2);
  await kubectl(['delete', 'vmi', first?.metadata?.name ?? '', '-n', NAMESPACE, '--wait', '--timeout=120s']);
  await untilReady(2);
  expect((await instances()).map(({ metadata }) => metadata?.uid)).not.toContain(first?.metadata?.uid);
  await kubectl(['scale', 'vmirs', NAME, '-n', NAMESPACE, '--replicas=1']);
  await until('one is left', async () => (await instances()).length === 1, { timeoutMs: 60_000, everyMs: 500 });
  await untilReady(1);
  await remove();
  await until('none is left', async () => (await instances()).length === 0, { timeoutMs: 60_000, everyMs: 500 });
});
