import type { Figure } from '../figures.ts';
import { figure } from '../figures.ts';
import { percentile } from './percentiles.ts';
import type { Rate, Started } from './load.ts';
import type { Cost } from './process-cost.ts';
import type { Tally } from './requests.ts';
import { isWrite } from './requests.ts';

/** KubeVirt's figures for the same load: API server v1.36, 100 KWOK nodes, 2 cores; one run each, ±30 %. Times in s. */
const KUBEVIRT: readonly Reference[] = [
  { vms: 100, rate: 2, p50: 0.21, p95: 0.34, perSecond: 2, cpuSeconds: 42.3, writes: 19.6, saturated: false },
  { vms: 200, rate: 10, p50: 9.5, p95: 16.5, perSecond: 5.4, cpuSeconds: 56.9, writes: 17.5, saturated: true },
  { vms: 200, rate: 'burst', p50: 17.2, p95: 29.7, perSecond: 6.2, cpuSeconds: 54.2, writes: 17.5, saturated: true },
  { vms: 1000, rate: 'burst', p50: 95.9, p95: 169, perSecond: 5.4, cpuSeconds: 314.8, writes: 17.5, saturated: true },
];

interface Reference {
  vms: number;
  rate: Rate;
  p50: number;
  p95: number;
  perSecond: number;
  /** Of virt-controller and API server. */
  cpuSeconds: number;
  writes: number;
  /** The machine was at its limit. */
  saturated: boolean;
}

/** 200 deleted: all gone after this many s. */
const KUBEVIRT_GONE = { vms: 200, seconds: 20 };
/** Without a full machine a start takes what it takes: s. */
const UNSATURATED_P50_LIMIT = 0.5;

export interface Run {
  vms: number;
  rate: Rate;
  started: Started;
  /** From the first request until shortly after the last VMI ran. */
  cost: Record<'controller' | 'kube-apiserver' | 'temporal', Cost>;
  requests: Tally[];
  goneMs: number;
  /** From the deletion of all until a while after the last was gone. */
  ofDeletion: Tally[];
  maxCachedWorkflows: number;
}

/** The run in figures, against KubeVirt's where there are any of the same load. */
export const figuresOf = (run: Run): Figure[] => {
  const { vms, rate, started, cost, requests, ofDeletion } = run;
  const name = (what: string): string => `${vms} VMs ${rate === 'burst' ? 'at once' : `at ${rate}/s`}: ${what}`;
  const kubevirt = KUBEVIRT.find((one) => one.vms === vms && one.rate === rate);
  const limited = kubevirt?.saturated === true ? { limit: 1 } : {};
  const against = (value: number | undefined, limit: { limit?: number } = {}) =>
    value === undefined ? {} : { against: value, ...limit };
  const seconds = (share: number): number => percentile(started.latencies, share) / 1000;
  const parts = Object.entries(cost);
  const cpuSeconds = parts.reduce((sum, [, one]) => sum + one.cpuSeconds, 0);
  const perVm = (of: readonly Tally[]): number => of.reduce((sum, { count }) => sum + count, 0) / vms;
  const isOurs = ({ who }: Tally): boolean => who === 'controller' || who === 'node';
  const ours = requests.filter(isOurs);
  const deleting = ofDeletion.filter(isOurs);
  const limitP50 = kubevirt?.saturated === false ? { limit: UNSATURATED_P50_LIMIT } : {};
  return [
    kubevirt?.saturated === false
      ? { name: name('VM created → VMI Running, P50'), value: seconds(0.5), unit: 's', ...limitP50 }
      : figure({
          name: name('VM created → VMI Running, P50'),
          value: seconds(0.5),
          unit: 's',
          ...against(kubevirt?.p50, limited),
        }),
    figure({
      name: name('VM created → VMI Running, P95'),
      value: seconds(0.95),
      unit: 's',
      ...against(kubevirt?.p95, limited),
    }),
    { name: name('VM created → VMI Running, P99'), value: seconds(0.99), unit: 's' },
    figure({
      ...{ name: name('VMs per second'), value: (vms * 1000) / (started.to - started.from), unit: 'VMs/s' },
      ...against(kubevirt?.perSecond),
    }),
    figure({
      ...{ name: name('CPU of controller, API server and Temporal'), value: cpuSeconds, unit: 's' },
      ...against(kubevirt?.cpuSeconds, limited),
    }),
    ...parts.map(([part, one]) => ({ name: name(`CPU of ${part}`), value: one.cpuSeconds, unit: 's' })),
    ...parts.map(([part, one]) => ({
      ...{ name: name(`peak memory of ${part}`), value: one.peakMiB, unit: 'MiB' },
      ...(part === 'controller' ? { note: `maxCachedWorkflows ${run.maxCachedWorkflows}` } : {}),
    })),
    figure({
      ...{ name: name('writes per VM'), value: perVm(ours.filter(isWrite)), unit: 'writes' },
      ...against(kubevirt?.writes, limited),
      note: 'of controller and node workers, Leases and Events included',
    }),
    { name: name('requests per VM'), value: perVm(ours), unit: 'requests' },
    ...ours
      .filter(({ count }) => count >= vms / 10)
      .map(({ who, verb, resource, count }) => ({
        ...{ name: name(`${who}: ${verb} ${resource}, per VM`), value: count / vms, unit: 'requests' },
      })),
    { name: name('writes in conflict'), value: ours.reduce((sum, one) => sum + one.conflicts, 0), unit: 'writes' },
    figure({
      ...{ name: name('all gone after a delete'), value: run.goneMs / 1000, unit: 's' },
      ...against(vms === KUBEVIRT_GONE.vms ? KUBEVIRT_GONE.seconds : undefined),
    }),
    { name: name('writes per deleted VM'), value: perVm(deleting.filter(isWrite)), unit: 'writes' },
    { name: name('requests per deleted VM'), value: perVm(deleting), unit: 'requests' },
  ];
};
