import { nodes } from '../cluster/addresses.ts';
import type { Step } from '../context.ts';
import { buildImages, loadImages } from '../images.ts';
import type { Images } from '../images.ts';

/** What `images` built, so that the nodes get just that even when sources are edited meanwhile. */
let built: Images | undefined;

export const images: Step = {
  title: 'Build the container images (the first time about 3 minutes)',
  run: async (ctx) => {
    built = await buildImages(ctx);
  },
  remedy: 'check that apt-get download works (apt-get update) and that npm reaches its registry, then run this again',
};

export const imagesOnNodes: Step = {
  title: 'Load the images into the nodes',
  run: async (ctx) => {
    built ??= await buildImages(ctx);
    for (const node of nodes) await loadImages(ctx, node, built);
  },
  remedy: 'see whether ./dev status says that both containerds are up, then run this again',
};
