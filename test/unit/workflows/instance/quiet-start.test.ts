import { describe, expect, test } from '@jest/globals';
import type { StartShown } from '../../../../api/contract/operations.ts';
import { reportKey, reportOf, reportOfStart } from '../../../../workflows/instance/report.ts';
import { isStartQuiet } from '../../../../workflows/instance/start-news.ts';
import type { InstanceEvent } from '../../../../workflows/instance/state.ts';
import { after, domain, instance, pod, vmi, words } from './facts.ts';

const START = 'vmi-start/u1/1';
const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;
const created: InstanceEvent = { type: 'instanceObserved', facts: instance({ untouched: true }) };
const start: StartShown = {
  podFacts: pod({ phase: 'Pending', computeReady: false, image: 'launcher:1' }),
  domain: domain('running', { sequence: { epoch: 1, n: 2 } }),
  phaseTimes: ['Scheduling', 'Scheduled', 'Running'].map((phase, n) => ({ phase, at: at(n) })),
};
const ended: InstanceEvent = {
  type: 'operationFinished',
  finished: {
    ...{
      operationId: START,
      kind: 'start',
      outcome: 'succeeded',
      pod: { name: 'p1', uid: 'p1', node: 'n1' },
      epoch: 1,
    },
    start,
  },
};

describe('a VMI that nobody has written since it was created', () => {
  test('is started without another look at the world', () => {
    expect(words(after(created).commands)).toEqual([`begin ${START}`]);
  });

  test('is looked at when its first start is not what it was taken for', () => {
    const { commands } = after(created, { type: 'operationExists', id: START, isOpen: false });
    expect(words(commands)).toEqual(['adopt']);
  });

  test('is looked at when it is being deleted: a guest may be there', () => {
    expect(words(after({ type: 'instanceObserved', facts: instance({ deleting: true }) }).commands)).toEqual(['adopt']);
  });
});

test('what a start has shown is what its entity shows, so that nobody writes it again', () => {
  const { state } = after(created, ended);
  const report = reportOf(state);
  expect(report).toMatchObject({ phase: 'Running', node: 'n1', launcherImage: 'launcher:1', activePods: { p1: 'n1' } });
  expect(report.phaseTimes).toEqual(start.phaseTimes);
  expect(reportKey(report)).toBe(reportKey(reportOfStart(vmi, start)));
});

test('until a start has told something or a Pod of it is known its entity knows less than the status says', () => {
  expect(isStartQuiet(after(created).state)).toBe(true);
  const trouble = { step: 'CheckVolumes', failure: { type: 'VolumeNotFound', message: 'no claim' } } as const;
  const progress = { operationId: START, kind: 'start', phase: 'Pending', trouble } as const;
  expect(isStartQuiet(after(created, { type: 'operationProgress', progress }).state)).toBe(false);
  expect(isStartQuiet(after(created, { type: 'podObserved', facts: pod({ attempt: 1 }) }).state)).toBe(false);
  expect(isStartQuiet(after(created, ended).state)).toBe(false);
});

test('containers that run make it Scheduled, if the Pod is that of the start under way', () => {
  const phase = (attempt: number): string =>
    reportOf(after(created, { type: 'podObserved', facts: pod({ attempt }) }).state).phase;
  expect([phase(1), phase(2)]).toEqual(['Scheduled', 'Pending']);
});

test('a guest of which nobody else says that it runs is shown as soon as its Pod is known', () => {
  const runs: InstanceEvent = { type: 'domainReported', report: domain('running') };
  const { state } = after(created, runs, { type: 'podObserved', facts: pod({ attempt: 1 }) });
  expect(reportOf(state).phase).toBe('Running');
});

test('what was heard of its domain before the Pod was known is not forgotten', () => {
  const crashed = domain('crashed', { end: 'crashed', sequence: { epoch: 1, n: 3 } });
  const heard = after(created, { type: 'domainReported', report: crashed });
  expect(words(heard.commands)).toEqual(['forward domainChanged']);
  const { commands } = after(created, { type: 'domainReported', report: crashed }, ended);
  expect(words(commands)).toEqual(['begin vmi-shutdown/u1/1 guestStopped']);
});

test('a start that failed leaves the phases that it has shown', () => {
  const failure = { type: 'DomainFailed', message: 'no memory' } as const;
  const [scheduling] = start.phaseTimes;
  const shown = { podFacts: start.podFacts, phaseTimes: scheduling === undefined ? [] : [scheduling] };
  const failed: InstanceEvent = {
    type: 'operationFinished',
    finished: { operationId: START, kind: 'start', outcome: 'failed', failure, start: shown },
  };
  expect(reportOf(after(created, failed).state)).toMatchObject({ phase: 'Scheduling', activePods: {} });
});
