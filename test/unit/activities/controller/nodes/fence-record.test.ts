import { expect, test } from '@jest/globals';
import { assessDeletedNode, liftFence, recordFence } from '../../../../../activities/controller/nodes/fence-record.ts';
import { recordedAt, recordedFence, recordLease } from '../../../../../activities/facts/fence-record.ts';
import type { KubePort } from '../../../../../activities/kube/port.ts';
import type { DeletedNode, Fence } from '../../../../../api/contract/nodes.ts';
import { FENCE_ANNOTATION, HEARTBEAT_ANNOTATION } from '../../../../../api/contract/nodes.ts';
import type { Lease, Node } from '../../../../../api/kubernetes/types.ts';
import { noWorkflows } from '../../../../support/no-workflows.ts';

const node = { name: 'a', uid: 'n1' };
const FENCED_AT = '2026-01-01T01:00:00.000Z';
const now = new Date('2026-01-01T01:30:00Z');
const fence: Fence = { by: 'operator', nodeUid: 'n1', bootId: 'b1' };

const nodeWith = (annotations: Record<string, string> = {}, uid = 'n1'): Node => ({
  metadata: { name: 'a', uid, annotations },
});
const recorded = (of: Fence = fence): Lease => ({
  ...recordLease(node, of, FENCED_AT),
  metadata: { ...recordLease(node, of, FENCED_AT).metadata, uid: 'l1', resourceVersion: '1' },
});

const world = (found: Node | undefined, lease?: Lease, polled?: string) => {
  let stored = lease;
  const store = (written: Lease): Promise<Lease> => Promise.resolve((stored = written));
  const kube = {
    get: (kind: string) => Promise.resolve(kind === 'Node' ? found : stored),
    create: (_: string, written: Lease) => store(written),
    replace: (_: string, written: Lease) => store(written),
    remove: () => Promise.resolve((stored = undefined)),
  } as unknown as KubePort;
  const workflows = { ...noWorkflows, lastPolled: () => Promise.resolve(polled) };
  return { ports: { kube, workflows, clock: () => now }, stored: () => stored };
};

test('the same fence is put on record once; another one replaces it', async () => {
  const { ports, stored } = world(undefined, recorded());
  await recordFence(ports)({ node, fence });
  expect(recordedAt(stored() ?? {})).toBe(FENCED_AT);
  const other: Fence = { ...fence, bootId: 'b2' };
  await recordFence(ports)({ node, fence: other });
  expect(recordedFence(stored() ?? {})).toEqual(other);
  expect(recordedAt(stored() ?? {})).toBe(now.toISOString());
});

const beat = (time: string) => ({ [HEARTBEAT_ANNOTATION]: time });
const word = { [FENCE_ANNOTATION]: JSON.stringify({ nodeUid: 'n1', bootId: 'b1', at: FENCED_AT }) };

test.each<[string, Node | undefined, Lease | undefined, 'lifted' | 'waits' | 'none']>([
  ['there is none', nodeWith(), undefined, 'none'],
  ['the worker was heard of since', nodeWith(beat('2026-01-01T01:00:01Z')), recorded(), 'lifted'],
  ['the worker was not heard of since', nodeWith(beat('2026-01-01T00:59:59Z')), recorded(), 'waits'],
  ['no worker has ever been heard of', nodeWith(), recorded(), 'waits'],
  ['it is fenced again', nodeWith({ ...beat('2026-01-01T01:00:01Z'), ...word }), recorded(), 'waits'],
  ['another Node has the name', nodeWith(beat('2026-01-01T01:00:01Z'), 'n2'), recorded(), 'waits'],
  ['there is no Node', undefined, recorded(), 'waits'],
])('the record of a fence goes only when its worker gives a sign of life: %s', async (_, found, lease, then) => {
  const { ports, stored } = world(found, lease);
  expect(await liftFence(ports)({ node })).toEqual({ waits: then === 'waits' });
  expect(stored() !== undefined).toBe(then === 'waits');
});

const deleted: Fence = { by: 'nodeDeleted', nodeUid: 'n1', bootId: 'b1' };
const EARLY = '2026-01-01T01:20:00Z';
const LATE = '2026-01-01T01:28:00.000Z';

test.each<[string, Node | undefined, Lease | undefined, string, string | undefined, DeletedNode]>([
  ['its worker is silent', undefined, undefined, EARLY, undefined, { outcome: 'fenced', fence: deleted }],
  ['no worker was ever heard of', undefined, undefined, '', undefined, { outcome: 'fenced', fence: deleted }],
  ['its worker gave a heartbeat lately', undefined, undefined, LATE, EARLY, { outcome: 'alive', lastSign: LATE }],
  ['its worker asked for work lately', undefined, undefined, EARLY, LATE, { outcome: 'alive', lastSign: LATE }],
  ['it was fenced before', undefined, recorded(), LATE, LATE, { outcome: 'fenced', fence }],
  [
    'an earlier Node was fenced',
    undefined,
    recorded({ ...fence, nodeUid: 'n0' }),
    LATE,
    undefined,
    { outcome: 'alive', lastSign: LATE },
  ],
  ['another has registered', nodeWith({}, 'n2'), undefined, EARLY, undefined, { outcome: 'registered' }],
  ['it is there after all', nodeWith(), undefined, EARLY, undefined, { outcome: 'alive', lastSign: now.toISOString() }],
])('a deleted Node: %s', async (_, found, lease, heartbeat, polled, then) => {
  const { ports, stored } = world(found, lease, polled);
  expect(await assessDeletedNode(ports)({ node, bootId: 'b1', heartbeat })).toEqual(then);
  if (then.outcome === 'fenced') expect(recordedFence(stored() ?? {})).toEqual(then.fence);
});
