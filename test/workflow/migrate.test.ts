import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { newLab } from '../support/fakes/lab.ts';
import { migrate, story } from '../support/fakes/migrating.ts';
import { TARGET_NODE } from '../support/fakes/world.ts';

const lab = await newLab();
await lab.startNode(TARGET_NODE);
afterAll(() => lab.close());
beforeEach(() => void lab.reset());

test('a guest moves to another node', async () => {
  const migrating = await migrate(lab);
  const { ending, report, guest, left, pods } = await story(lab, migrating);
  expect({ guest, left, pods, phase: report.phase }).toEqual({
    guest: 'target',
    left: [],
    pods: 1,
    phase: 'Succeeded',
  });
  expect(ending.steps.map(({ name, state }) => `${name} ${state}`)).toEqual([]);
});
