import { describe, expect, test } from '@jest/globals';
import type { LeavingStatus } from '../../../../api/contract/evacuation.ts';
import type { Asked, Facts, TemporalFacts } from '../../../../cli/diagnose/facts.ts';
import { renderDiagnosis } from '../../../../cli/diagnose/render.ts';
import { walk } from '../../../../cli/diagnose/walk.ts';
import { at, running } from '../migration/samples.ts';
import * as f from './facts.ts';

/** A VM that runs well and is asked to leave its node. */
const asked = (temporal: Facts['temporal'], status: object = { evacuationNodeName: 'node-a' }): Facts => ({
  ...f.runningWell,
  ...{ vmi: running([f.AGENT], status), temporal },
});
const knowing = (evacuation: TemporalFacts['evacuation']): Facts['temporal'] =>
  f.answer({
    ...{ entity: f.answer(undefined), pollers: { controller: 1, 'node-node-a': 1 } },
    ...(evacuation === undefined ? {} : { evacuation }),
  });
const leaving = (more: Partial<LeavingStatus>, uid = 'vmi-1'): TemporalFacts['evacuation'] =>
  f.answer({
    ...{ node: { name: 'node-a', uid: 'n' }, since: at(0), cordoned: true },
    leaving: [{ vmi: { namespace: 'prod', name: 'web', uid }, standing: 'moving', why: 'it is so', ...more }],
  });

describe('a guest that is to leave its node', () => {
  test.each<[string, LeavingStatus['standing'], RegExp]>([
    ['waits after a failure', 'backingOff', new RegExp(`tried again at ${at(130)}; at once: virtflow migrate web`)],
    ['may not', 'refused', /settle what refuses it/],
    ['cannot', 'obstructed', /virtflow stop web/],
  ])('%s: it says why, and what to do', (_, standing, remedy) => {
    const temporal = knowing(leaving({ standing, why: 'no room elsewhere.', nextTryAt: at(130) }));
    const { sentence, standsAt } = walk(asked(temporal));
    expect(standsAt).toMatchObject({ stage: 'evacuation', state: 'waiting', why: 'no room elsewhere' });
    expect(standsAt?.remedy).toMatch(remedy);
    expect(sentence).toMatch(
      /^web runs on node-a; it is to leave that node, and does not yet because no room elsewhere; /,
    );
  });

  test.each<LeavingStatus['standing']>(['moving', 'beginning'])('and is %s is as it should be', (standing) => {
    const { standsAt, evacuation } = walk(asked(knowing(leaving({ standing, migration: 'm1' }))));
    expect(standsAt).toBeUndefined();
    expect(evacuation?.state).toBe('ok');
  });

  test.each<[string, Asked<undefined> | undefined]>([
    ['no workflow', f.answer(undefined)],
    ['nothing', undefined],
  ])('that %s empties: the controller worker is named', (_, evacuation) => {
    const { standsAt } = walk(asked(knowing(evacuation)));
    expect(standsAt).toMatchObject({ stage: 'evacuation', why: 'nothing empties node node-a yet' });
    expect(standsAt?.remedy).toContain('virtflow');
  });

  test('is not judged when its workflow cannot be asked', () => {
    const silent = { answered: false as const, why: 'no worker answers' };
    expect(walk(asked(knowing(silent))).evacuation).toMatchObject({ state: 'unknown', why: 'no worker answers' });
    expect(walk(asked(silent)).evacuation).toMatchObject({ state: 'unknown', why: 'no worker answers' });
  });

  test('is shown in the table', () => {
    const shown = renderDiagnosis(walk(asked(knowing(leaving({ standing: 'obstructed', why: 'its disks' })))));
    expect(shown).toMatch(/evacuation\s+│ waiting\s+│ obstructed: its disks/);
  });
});

test('one whose node carries the taint that empties it is asked as well', () => {
  const { evacuation } = walk(asked(knowing(leaving({ standing: 'obstructed' })), {}));
  expect(evacuation?.stage).toBe('evacuation');
});

test.each<[string, object, TemporalFacts['evacuation']]>([
  ['nobody asked', {}, undefined],
  ['another instance is asked', {}, leaving({}, 'vmi-2')],
  ['it has left', { evacuationNodeName: 'node-b' }, undefined],
])('a guest may stay: %s', (_, status, evacuation) => {
  expect(walk(asked(knowing(evacuation), status)).evacuation).toBeUndefined();
});
