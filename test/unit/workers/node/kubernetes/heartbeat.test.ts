import { expect, test } from '@jest/globals';
import { heartbeatPatch, keepHeartbeat } from '../../../../../workers/node/kubernetes/heartbeat.ts';
import { machineTypeLabels } from '../../../../../workers/node/kubernetes/machine-types.ts';
import { until } from '../../../../support/until.ts';

const at = new Date('2026-11-29T12:00:00.789Z');

test('the patch says when, and whether launchers may come', () => {
  expect(heartbeatPatch(at, true)).toMatchObject({
    metadata: {
      annotations: { 'kubevirt.io/heartbeat': '2026-11-29T12:00:00Z' },
      labels: { 'kubevirt.io/schedulable': 'true' },
    },
  });
  expect(heartbeatPatch(at, false)).toMatchObject({ metadata: { labels: { 'kubevirt.io/schedulable': 'false' } } });
});

test.each([
  ['x64', ['q35', 'pc', 'pc-q35-7.2', 'pc-i440fx-7.2']],
  ['arm64', ['virt', 'virt-7.2']],
] as const)('%s nodes offer its machine types', (architecture, types) => {
  const labels = machineTypeLabels(architecture);
  for (const type of types) expect(labels[`machine-type.node.kubevirt.io/${type}`]).toBe('true');
});

type Written = { metadata: { labels: Record<string, string> } };

test('a failed write is repeated soon, and the end takes the node out of scheduling', async () => {
  const over = new AbortController();
  const written: string[] = [];
  let failures = 1;
  const heartbeat = keepHeartbeat({
    node: 'node-a',
    kube: {
      mergePatch: (_kind, name, patch) => {
        if (failures-- > 0) return Promise.reject(new Error('refused'));
        written.push(`${name.name} ${(patch as Written).metadata.labels['kubevirt.io/schedulable']}`);
        return Promise.resolve({} as never);
      },
    },
    schedulable: () => true,
    log: { warn: () => {} },
    signal: over.signal,
  });
  await until('the first heartbeat', () => written.length === 1, { timeoutMs: 5_000 });
  over.abort();
  await heartbeat;
  expect(written).toEqual(['node-a true', 'node-a false']);
});

test('labels are written when they differ from those of the Node, and a Node is told of as it was found', async () => {
  const over = new AbortController();
  const patches: Written[] = [];
  const labels = { 'kubevirt.io/kvm': 'true' };
  let isOpen = true;
  const seen: unknown[] = [];
  const heartbeat = keepHeartbeat({
    node: 'node-a',
    kube: {
      mergePatch: (_kind, _name, patch) => {
        patches.push(patch as Written);
        return Promise.resolve({ metadata: { name: 'node-a', labels } } as never);
      },
    },
    schedulable: () => isOpen,
    labels: () => Promise.resolve(labels),
    seen: (node) => void seen.push(node.metadata?.name),
    log: { warn: () => {} },
    signal: over.signal,
  });
  await until('the first heartbeat', () => seen.length === 1);
  isOpen = false;
  await until('that it takes no more is said at once', () => seen.length === 2, { timeoutMs: 10_000 });
  over.abort();
  await heartbeat;
  expect(patches.map((patch) => patch.metadata.labels)).toEqual([
    { 'kubevirt.io/kvm': 'true', 'kubevirt.io/schedulable': 'true' },
    { 'kubevirt.io/schedulable': 'false' },
    { 'kubevirt.io/schedulable': 'false' },
  ]);
});
