import { join } from 'node:path';
import { digest } from './cache.ts';
import type { NodeSpec } from './cluster/addresses.ts';
import type { Context } from './context.ts';
import { buildGuest } from './guest/build.ts';
import { build, copyToLayout } from './images/buildah.ts';
import { readLayout } from './images/layout.ts';
import { loadImage } from './images/load.ts';
import { sourcesKey } from './images/sources.ts';
import { buildSystems, systemKey } from './images/systems.ts';
import { ensurePackages } from './steps/apt.ts';

/** Full names of the images, with tags that stand for their content: `localhost/virtflow/node:<digest of its sources>`. */
export interface Images {
  readonly controller: string;
  readonly node: string;
  readonly launcher: string;
  /** Kernel, initrd and disk of the test guest, for kernelBoot and containerDisk. */
  readonly testGuest: string;
}

/** The test guest's name in examples/, whatever its content. */
export const TEST_GUEST = 'localhost/virtflow/test-guest:local';

/** Debian packages that the build needs on this machine. */
const BUILD_PACKAGES = ['buildah', 'skopeo', 'mmdebstrap', 'debian-archive-keyring'] as const;

/** What each image of the Containerfile is made of, besides what lies below its sources. */
const SOURCES = {
  controller: ['api', 'workflows', 'activities', 'workers', 'cli'],
  node: ['api', 'activities', 'workers'],
  launcher: ['api', 'launcher'],
} as const;

const layoutDir = (ctx: Context): string => join(ctx.cacheDir, 'images/layout');

/** Builds the images whose sources changed, and returns the names of all. First time 3 min and 900 MB, later a few seconds. */
export async function buildImages(ctx: Context): Promise<Images> {
  const images = await imageNames(ctx);
  const built = new Set((await readLayout(layoutDir(ctx))).map(({ name }) => name));
  const missing = (Object.keys(images) as (keyof Images)[]).filter((target) => !built.has(images[target]));
  if (missing.length === 0) return images;

  await ensurePackages(ctx, BUILD_PACKAGES);
  const systems = missing.some((target) => target !== 'testGuest') ? await buildSystems(ctx) : {};
  for (const target of missing) {
    const image = images[target];
    if (target === 'testGuest') {
      const { dir } = await buildGuest(ctx);
      await build(ctx, { image, containerfile: join(ctx.root, 'deploy/local/guest/Containerfile'), context: dir });
    } else {
      const containerfile = join(ctx.root, 'deploy/images/Containerfile');
      await build(ctx, { image, containerfile, context: ctx.root, target, args: systems });
    }
    await copyToLayout(ctx, image, layoutDir(ctx));
  }
  return images;
}

/** Loads the images into a node's containerd, those that it lacks. They must have been built. */
export async function loadImages(ctx: Context, node: NodeSpec, images: Images): Promise<void> {
  const { testGuest, ...ours } = images;
  for (const name of Object.values<string>(ours)) {
    ctx.report(`${name} into ${node.name}`);
    await loadImage(node, layoutDir(ctx), name);
  }
  await loadImage(node, layoutDir(ctx), testGuest, TEST_GUEST);
}

async function imageNames(ctx: Context): Promise<Images> {
  const system = await systemKey(ctx);
  const name = async (target: keyof typeof SOURCES): Promise<string> =>
    `localhost/virtflow/${target}:${digest(system, await sourcesKey(ctx.root, SOURCES[target]))}`;
  const { dir } = await buildGuest(ctx);
  const guestKey = await sourcesKey(ctx.root, ['deploy/local/guest/Containerfile']);
  return {
    controller: await name('controller'),
    node: await name('node'),
    launcher: await name('launcher'),
    testGuest: `localhost/virtflow/test-guest:${digest(dir, guestKey)}`,
  };
}
