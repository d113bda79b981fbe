import { expect, test } from '@jest/globals';
import { isWithin } from '../../../bench/figures.ts';
import type { Run } from '../../../bench/density/figures.ts';
import { figuresOf } from '../../../bench/density/figures.ts';

const cost = { cpuSeconds: 10, peakMiB: 400 };
const run = (change: Partial<Run> = {}): Run => ({
  ...{ vms: 200, rate: 10, goneMs: 10_000, maxCachedWorkflows: 500 },
  started: { latencies: Array.from({ length: 200 }, () => 4_000), from: 0, to: 20_000 },
  cost: { controller: cost, 'kube-apiserver': cost, temporal: cost },
  requests: [
    { who: 'controller', verb: 'patch', resource: 'pods', count: 400, conflicts: 3 },
    { who: 'node', verb: 'get', resource: 'pods', count: 200, conflicts: 0 },
    { who: 'scheduler', verb: 'create', resource: 'pods/binding', count: 200, conflicts: 0 },
  ],
  ofDeletion: [
    { who: 'controller', verb: 'delete', resource: 'pods', count: 200, conflicts: 0 },
    { who: 'controller', verb: 'get', resource: 'pods', count: 400, conflicts: 0 },
    { who: 'kwok', verb: 'delete', resource: 'pods', count: 200, conflicts: 0 },
  ],
  ...change,
});
const named = (figures: ReturnType<typeof figuresOf>, what: string) => figures.find(({ name }) => name.endsWith(what));

test('a load that KubeVirt was measured with is held against its figures', () => {
  const figures = figuresOf(run());
  expect(named(figures, 'P50')).toMatchObject({ value: 4, against: 9.5, limit: 1, ratio: 4 / 9.5 });
  expect(named(figures, 'CPU of controller, API server and Temporal')).toMatchObject({ value: 30, limit: 1 });
  expect(figures.every(isWithin)).toBe(true);
});

test('more CPU than KubeVirt is above the limit', () => {
  const figures = figuresOf(
    run({ cost: { controller: { ...cost, cpuSeconds: 60 }, 'kube-apiserver': cost, temporal: cost } }),
  );
  expect(figures.filter((one) => !isWithin(one)).map(({ name }) => name)).toEqual([
    '200 VMs at 10/s: CPU of controller, API server and Temporal',
  ]);
});

test('only what virtflow asks and writes is counted', () => {
  const figures = figuresOf(run());
  expect(named(figures, 'writes per VM')?.value).toBe(2);
  expect(named(figures, 'requests per VM')?.value).toBe(3);
  expect(named(figures, 'writes in conflict')?.value).toBe(3);
  expect(named(figures, 'writes per deleted VM')?.value).toBe(1);
  expect(named(figures, 'requests per deleted VM')?.value).toBe(3);
});

test('where the machine is not full, a start has half a second', () => {
  const figures = figuresOf(run({ vms: 100, rate: 2 }));
  expect(named(figures, 'P50')).toMatchObject({ value: 4, limit: 0.5 });
});

test('any other load is for information', () => {
  const figures = figuresOf(run({ vms: 50, rate: 'burst' }));
  expect(figures[0]?.name).toBe('50 VMs at once: VM created → VMI Running, P50');
  expect(figures.every(({ limit }) => limit === undefined)).toBe(true);
});
