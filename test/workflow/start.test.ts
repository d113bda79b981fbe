import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Lab } from '../support/fakes/lab.ts';
import { newLab } from '../support/fakes/lab.ts';
import { newVmi, start } from '../support/fakes/operations.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await newLab();
});
afterAll(() => lab.close());
beforeEach(() => void lab.reset());

test('a start takes the token, creates the Pod, and ends with a running domain', async () => {
  const vmi = newVmi(lab);
  const result = await (await start(lab, vmi)).result();
  console.log(JSON.stringify(result, null, 1));
  expect(lab.world.leftovers(vmi)).toEqual([`Pod pod-${vmi.uid}-1, domain running`, 'token']);
});
