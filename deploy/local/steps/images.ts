import { nodes } from '../cluster/addresses.ts';
import type { Context, Step } from '../context.ts';
import { buildImages, loadImages } from '../images.ts';
import type { Images } from '../images.ts';

/** What `images` built, so that the nodes get just that even when sources are edited meanwhile. */
let built: Images | undefined;

/** The images of this run of ./dev. */
export const currentImages = async (ctx: Context): Promise<Images> => (built ??= await buildImages(ctx));

export const images: Step = {
  title: 'Build the container images (the first time about 3 minutes)',
  run: async (ctx) => {
    await currentImages(ctx);
  },
  remedy: 'check that apt-get download works (apt-get update) and that npm reaches its registry, then run this again',
};

export const imagesOnNodes: Step = {
  title: 'Load the images into the nodes',
  run: async (ctx) => {
    for (const node of nodes) await loadImages(ctx, node, await currentImages(ctx));
  },
  remedy: 'see whether ./dev status says that both containerds are up, then run this again',
};
