import { rm } from 'node:fs/promises';
import { nodes } from '../cluster/addresses.ts';
import { removeNetwork } from '../cluster/network.ts';
import { removeNodeFiles } from '../cluster/node-files.ts';
import { killAll } from '../cgroup.ts';
import { unmountBelow } from '../mounts.ts';
import type { Step } from '../context.ts';
import { forgetAll } from '../process.ts';

const again = 'run this again';

/** Ends everything that runs, as if the machine had lost its power, and keeps the data. */
export const downSteps: readonly Step[] = [
  {
    title: 'End every process of the cluster, Pods too',
    run: async (ctx) => {
      await killAll();
      await forgetAll(ctx);
    },
    remedy: again,
  },
  {
    title: 'Drop the mounts of nodes and of image builds',
    run: async (ctx) => {
      await removeNodeFiles(nodes);
      await unmountBelow(ctx.cacheDir);
      await unmountBelow(ctx.stateDir);
    },
    remedy: again,
  },
  { title: 'Remove the network', run: removeNetwork, remedy: again },
];

export const cleanStep: Step = {
  title: "Delete the cluster's data, keys and logs",
  run: (ctx) => rm(ctx.stateDir, { recursive: true, force: true }),
  remedy: again,
};

export const cleanCacheStep: Step = {
  title: 'Delete what was downloaded and built',
  run: (ctx) => rm(ctx.cacheDir, { recursive: true, force: true }),
  remedy: again,
};
