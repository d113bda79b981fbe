import { expect, test } from '@jest/globals';
import { renderDiagnosis } from '../../../../cli/diagnose/render.ts';
import { walk } from '../../../../cli/diagnose/walk.ts';
import { migration } from '../migration/samples.ts';
import { migrating } from './facts.ts';

test('the sentence comes first, then every stage, then what could not be asked', () => {
  const facts = { ...migrating(migration('Scheduling')), temporal: { answered: false as const, why: 'it is down' } };
  const [first, ...rest] = renderDiagnosis(walk(facts)).split('\n');
  expect(first).toMatch(/^web runs on node-a; its migration .* stands at Prepare/);
  const text = rest.join('\n');
  for (const part of [
    'object',
    'launcher Pod',
    'command server',
    'Prepare',
    'kubevirt-migrate-vm-abc: it is',
    'Finalize',
    'not reached',
  ])
    expect(text).toContain(part);
  expect(rest.at(-1)).toBe('could not be asked: Temporal: it is down');
});
