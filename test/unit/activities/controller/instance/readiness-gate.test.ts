import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { InstanceReport } from '../../../../../api/contract/activities.ts';
import type { Pod } from '../../../../../api/kubernetes/types.ts';
import type { DomainState } from '../../../../../api/launcher/reports.ts';
import { gatedConditions } from '../../../../../activities/controller/instance/readiness-gate.ts';

const GATE = 'kubevirt.io/virtual-machine-unpaused';
const at = '2026-01-01T00:00:05Z';

type Word = 'True' | 'False' | undefined;

const podWith = (uid: string, gate: Word): Pod => ({
  metadata: { uid },
  status: {
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      ...(gate === undefined ? [] : [{ type: GATE, status: gate }]),
    ],
  },
});

const report = (by: string, state: DomainState, phase = 'Running'): InstanceReport => ({
  phase,
  phaseTimes: [],
  activePods: { source: 'node-a', target: 'node-b' },
  conditions: state === 'paused' ? [{ type: 'Paused', status: 'True' }] : [],
  domain: {
    vmi: { namespace: 'n', name: 'v', uid: 'u' },
    podUid: by,
    node: 'node-a',
    sequence: { epoch: 1, n: 1 },
    at,
    state,
    agent: { connected: false },
  },
});

/** The gate that is written; "stays": nothing is. */
const written = (pod: Pod, said: InstanceReport, holder: string | undefined): string => {
  const conditions = gatedConditions(pod, said, holder, at);
  if (conditions === undefined) return 'stays';
  expect(conditions.map(({ type }) => type)).toContain('PodScheduled');
  return conditions.find(({ type }) => type === GATE)?.status ?? 'none';
};

describe('of the Pod that holds the token', () => {
  test.each<[string, Word, InstanceReport, string]>([
    ['not running yet', undefined, report('source', 'starting', 'Scheduled'), 'stays'],
    ['running', undefined, report('source', 'running'), 'True'],
    ['running and told', 'True', report('source', 'running'), 'stays'],
    ['paused', 'True', report('source', 'paused'), 'False'],
    ['paused and told', 'False', report('source', 'paused'), 'stays'],
    ['resumed', 'False', report('source', 'running'), 'True'],
    ['only another Pod reports', 'True', report('target', 'paused'), 'stays'],
    ['the guest ended', 'True', report('source', 'shutoff', 'Succeeded'), 'stays'],
  ])('%s', (_, gate, said, then) => {
    expect(written(podWith('source', gate), said, 'source')).toBe(then);
  });

  test('a migration that stops the guest for the moment of switching over leaves it', () => {
    const { domain, ...said } = report('source', 'paused');
    const switching = { ...said, conditions: [], ...(domain === undefined ? {} : { domain }) };
    expect(written(podWith('source', 'True'), switching, 'source')).toBe('stays');
  });
});

describe('of another Pod of the VMI', () => {
  test.each<[string, string, Word, InstanceReport, string]>([
    ['a target before the token moved', 'target', undefined, report('source', 'running'), 'stays'],
    ['a target whose domain comes in', 'target', undefined, report('target', 'incoming'), 'stays'],
    ['a target whose guest runs, the token not moved yet', 'target', undefined, report('target', 'running'), 'stays'],
  ])('%s', (_, uid, gate, said, then) => {
    expect(written(podWith(uid, gate), said, 'source')).toBe(then);
  });

  test('the source once the token has moved', () => {
    expect(written(podWith('source', 'True'), report('target', 'running'), 'target')).toBe('False');
    expect(written(podWith('source', 'False'), report('target', 'running'), 'target')).toBe('stays');
  });
});

test('the target gets True once it holds the token and its guest runs', () => {
  expect(written(podWith('target', undefined), report('target', 'running'), 'target')).toBe('True');
});

test('whatever is reported in whatever order: after each write a Service routes to no Pod but the one that holds the token', () => {
  const uid = fc.constantFrom('source', 'target');
  const state = fc.constantFrom<DomainState>('incoming', 'running', 'paused', 'shutoff', 'none');
  const gate = fc.constantFrom<Word>('True', 'False', undefined);
  fc.assert(
    fc.property(uid, uid, state, fc.tuple(gate, gate), (holder, by, domain, [source, target]) => {
      const said = report(by, domain);
      const after = [podWith('source', source), podWith('target', target)].map((pod) => ({
        uid: pod.metadata?.uid,
        conditions: gatedConditions(pod, said, holder, at) ?? pod.status?.conditions ?? [],
      }));
      const open = after.filter(({ conditions }) => conditions.some((c) => c.type === GATE && c.status === 'True'));
      expect(open.filter((pod) => pod.uid !== holder)).toEqual([]);
    }),
  );
});
