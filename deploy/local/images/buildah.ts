import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { run, succeeds } from '../shell.ts';

const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** buildah's storage is ours alone, in the cache. */
const storage = (ctx: Context): { root: string; runroot: string } => ({
  root: join(ctx.cacheDir, 'images/storage'),
  runroot: join(ctx.cacheDir, 'images/run'),
});

function buildah(ctx: Context): string[] {
  const { root, runroot } = storage(ctx);
  return ['buildah', '--root', root, '--runroot', runroot, '--storage-driver', 'overlay'];
}

export interface Build {
  /** Name of the image with its tag. */
  readonly image: string;
  readonly containerfile: string;
  /** Directory that the Containerfile copies from. */
  readonly context: string;
  readonly target?: string;
  readonly args?: Readonly<Record<string, string>>;
}

/** Builds an image; unchanged layers are taken from buildah's storage, nothing is pulled. */
export async function build(ctx: Context, { image, containerfile, context, target, args = {} }: Build): Promise<void> {
  const ignore = `${containerfile}.dockerignore`;
  await run(
    [
      ...buildah(ctx),
      ...['bud', '--isolation', 'chroot', '--layers', '--pull-never', '--tag', image, '--file', containerfile],
      ...(existsSync(ignore) ? ['--ignorefile', ignore] : []),
      ...(existsSync(CERTIFICATES) ? ['--volume', `${CERTIFICATES}:${CERTIFICATES}:ro`] : []),
      ...(target === undefined ? [] : ['--target', target]),
      ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
      context,
    ],
    { onLine: (line) => ctx.report(`${image}: ${line}`) },
  );
}

/** Whether buildah's storage has an image of this name. */
export const isBuilt = (ctx: Context, image: string): Promise<boolean> =>
  succeeds([...buildah(ctx), 'inspect', '--type', 'image', image]);

/** Copies an image into an OCI layout, uncompressed; layers that the layout holds already are not copied again. */
export async function copyToLayout(ctx: Context, image: string, layout: string): Promise<void> {
  const { root, runroot } = storage(ctx);
  const source = `containers-storage:[overlay@${root}+${runroot}]${image}`;
  await run(['skopeo', 'copy', '--quiet', '--preserve-digests', source, `oci:${layout}:${image}`]);
}
