import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { instanceId, migrationId } from '../../api/contract/refs.ts';
import type { Lab } from '../support/fakes/lab.ts';
import { newLab } from '../support/fakes/lab.ts';
import { newMigration } from '../support/fakes/migrating.ts';
import { newVmi } from '../support/fakes/operations.ts';
import { TARGET_NODE } from '../support/fakes/world.ts';

/** A start, a migration, a failed one, a deletion. Returns what the instance's last run was continued from; '': nothing. */
const life = async (lab: Lab): Promise<string> => {
  const { world, env } = lab;
  const vmi = newVmi(lab);
  const fake = world.vmis.get(vmi.uid);
  if (fake === undefined) throw new Error('the VMI is gone');
  await world.tell({ kind: 'vmi', facts: fake.facts });
  await lab.until('it runs', () => fake.facts.phase === 'Running');
  const migrated = async (phase: 'Succeeded' | 'Failed'): Promise<void> => {
    const vmim = await world.migrations.create(vmi, newMigration());
    await env.client.workflow
      .getHandle(migrationId(vmim.facts.migration))
      .result()
      .catch(() => undefined);
    expect(vmim.reports.at(-1)?.phase).toBe(phase);
  };
  await migrated('Succeeded');
  world.manners.migrates = 'fails';
  await migrated('Failed');
  await world.deleteVmi(vmi.uid);
  const entity = env.client.workflow.getHandle(instanceId(vmi));
  await entity.result();
  expect([world.leftovers(vmi), world.violations]).toEqual([[], []]);
  const { events } = await entity.fetchHistory();
  return events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
};

describe.each<[string, Parameters<typeof newLab>[0], number | undefined, boolean]>([
  [
    'with one workflow kept in memory, a life replays the same wherever it is taken up',
    // Of none at all the SDK drops local activities that run.
    { maxCachedWorkflows: 1 },
    undefined,
    false,
  ],
  ['with entities that continue as new often, it goes over from run to run', {}, 12, true],
])('%s', (_, options, continueAfter, isContinued) => {
  let lab: Lab;
  afterAll(() => lab.close());
  beforeEach(async () => {
    lab = await newLab(options);
    await lab.startNode(TARGET_NODE);
    lab.reset();
    lab.continueAfter = continueAfter;
    lab.tellEntities();
  });

  test('with a migration that moves its guest and one that does not', async () => {
    expect((await life(lab)) !== '').toBe(isContinued);
  });
});
