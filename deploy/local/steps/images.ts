import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { nodes } from '../cluster/addresses.ts';
import { imagesOn, importImages } from '../cluster/node.ts';
import type { Context, Step } from '../context.ts';
import { ensureFile } from '../files.ts';

/** An image of the local set-up: its name and the docker-archive or OCI tar in the cache, whose path says its content. */
export interface ImageArchive {
  readonly name: string;
  readonly archive: string;
}

async function buildImages(ctx: Context): Promise<readonly ImageArchive[]> {
  const file = join(import.meta.dirname, '../images.ts');
  if (!existsSync(file)) return [];
  const built = (await import(file)) as { buildImages: (context: Context) => Promise<readonly ImageArchive[]> };
  return built.buildImages(ctx);
}

export const images: Step = {
  title: 'Build the container images',
  run: async (ctx) => {
    await buildImages(ctx);
  },
  remedy: 'check that apt-get download works (apt-get update), then run this again',
};

const imported = z.record(z.string(), z.string());

/** Which archive each image of a node came from, by the image's name. */
const recordFile = (ctx: Context, node: string): string => join(ctx.stateDir, 'nodes', node, 'images.json');

export const imagesOnNodes: Step = {
  title: 'Load the images into the nodes',
  run: async (ctx) => {
    const built = await buildImages(ctx);
    for (const node of nodes) {
      const file = recordFile(ctx, node.name);
      const record = imported.parse(JSON.parse(await readFile(file, 'utf8').catch(() => '{}')));
      const present = new Set(await imagesOn(node));
      for (const { name, archive } of built) {
        if (record[name] === archive && present.has(name)) continue;
        ctx.report(`${name} into ${node.name}`);
        await importImages(node, archive);
        record[name] = archive;
        await ensureFile(file, JSON.stringify(record));
      }
    }
  },
  remedy: 'see whether ./dev status says that both containerds are up, then run this again',
};
