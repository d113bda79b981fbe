import { newLab } from '../support/fakes/lab.ts';
import { TARGET_NODE } from '../support/fakes/world.ts';
import { evacuations } from './evacuations.ts';
import { save } from './histories.ts';
import { migrations } from './migrations.ts';
import { nodes } from './nodes.ts';
import { replicaSets } from './replica-sets.ts';
import { scenarios } from './scenarios.ts';
import { triggers } from './triggers.ts';

/**
 * `npm run record [SCENARIO …]`: runs the scenarios against the workflows as they are and writes their histories. A recorded history stands for the
 * operations that run in clusters when a new release arrives: record anew only together with a patch marker, or before the first release.
 */
const lab = await newLab();
await lab.startNode(TARGET_NODE);
const chosen = process.argv.slice(2);
for (const [scenario, run] of Object.entries({
  ...scenarios,
  ...migrations,
  ...nodes,
  ...triggers,
  ...evacuations,
  ...replicaSets,
})) {
  if (chosen.length > 0 && !chosen.includes(scenario)) continue;
  lab.reset();
  for (const [name, handle] of Object.entries(await run(lab))) {
    await save(name, await handle.fetchHistory());
    console.log(`${scenario}: ${name}`);
  }
}
await lab.close();
process.exit(0);
