import { join, relative } from 'node:path';
import { stringify } from 'yaml';
import type { Context, Step } from '../context.ts';
import { ensureFile } from '../files.ts';
import type { Images } from '../images.ts';
import { kubectl } from '../kubectl.ts';
import { currentImages } from './images.ts';

const ROLLOUT_SECONDS = 180;

/** Deploys virtflow from deploy/ with the images of these sources, as a user does with `kubectl apply -k`. */
export const virtflow: Step = {
  title: 'Deploy virtflow: kubectl apply -k deploy/local-overlay',
  run: async (ctx) => {
    const dir = join(ctx.stateDir, 'deploy');
    await ensureFile(join(dir, 'kustomization.yaml'), stringify(kustomization(dir, ctx, await currentImages(ctx))));
    const apply = ['apply', '--server-side', '--force-conflicts'];
    // The KubeVirt object can be applied only when the API server serves its kind.
    await kubectl(ctx, ...apply, '-k', join(ctx.root, 'deploy/crds'));
    await kubectl(ctx, 'wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s');
    await kubectl(ctx, ...apply, '-k', dir);
    for (const workload of ['deployment/virtflow-controller', 'daemonset/virtflow-node']) {
      ctx.report(`waiting for ${workload}`);
      await kubectl(ctx, '-n', 'virtflow', 'rollout', 'status', workload, `--timeout=${ROLLOUT_SECONDS}s`);
    }
  },
  remedy: 'look at: kubectl -n virtflow get pods; kubectl -n virtflow logs deploy/virtflow-controller',
};

const split = (image: string): { name: string; tag: string } => {
  const colon = image.lastIndexOf(':');
  return { name: image.slice(0, colon), tag: image.slice(colon + 1) };
};

/** The overlay of the local cluster, with the tags that stand for the images' content. */
function kustomization(dir: string, ctx: Context, images: Images): object {
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: 'virtflow',
    resources: [relative(dir, join(ctx.root, 'deploy/local-overlay'))],
    images: [images.controller, images.node, images.launcher]
      .map(split)
      .map(({ name, tag }) => ({ name, newTag: tag })),
    configMapGenerator: [
      { name: 'virtflow-launcher', behavior: 'merge', literals: [`LAUNCHER_IMAGE=${images.launcher}`] },
    ],
  };
}
