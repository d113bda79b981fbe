import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cached, cachePath, digest, digestFiles, exists } from '../cache.ts';
import type { Context, Step } from '../context.ts';
import { run } from '../shell.ts';
import { versions } from '../versions.ts';

/** The module that pins Kubernetes, etcd and CoreDNS with all they depend on. */
const moduleDir = join(import.meta.dirname, '../go');
const moduleFiles = ['go.mod', 'go.sum', 'coredns/main.go'].map((file) => join(moduleDir, file));

const packages = [
  ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'kubectl'].map(
    (command) => `k8s.io/kubernetes/cmd/${command}`,
  ),
  './coredns',
];

/** Without these a server and its nodes call themselves v0.0.0-master. */
const linkerFlags = (): string => {
  const [major, minor] = versions.KUBERNETES_VERSION.split('.');
  const values = {
    gitVersion: `v${versions.KUBERNETES_VERSION}`,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: 'clean',
  };
  const set = Object.entries(values).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return ['-s -w', ...set].join(' ');
};

const key = async (): Promise<string> =>
  `${versions.KUBERNETES_VERSION}-${digest(await digestFiles(moduleFiles), linkerFlags())}`;

/** Where kube-apiserver, kubelet, kubectl, etcd and the others are. */
export const kubernetesBin = async (ctx: Context): Promise<string> => cachePath(ctx, 'kubernetes', await key());

/** Builds from a copy, so that Go never writes to the repository. */
async function build(ctx: Context, out: string): Promise<void> {
  const source = join(out, '.source');
  await cp(moduleDir, source, { recursive: true });
  let compiled = 0;
  const go = (flags: readonly string[], output: string, targets: readonly string[]): Promise<string> =>
    run(['nice', '-n', '5', 'go', 'build', '-v', '-mod=readonly', '-trimpath', ...flags, '-o', output, ...targets], {
      cwd: source,
      onLine: (line) => ctx.report(`${++compiled} packages compiled, now ${line}`),
    });
  await mkdir(out, { recursive: true });
  await go(['-ldflags=-s -w'], join(out, 'etcd'), ['go.etcd.io/etcd/server/v3']);
  await go([`-ldflags=${linkerFlags()}`], `${out}/`, packages);
}

export const kubernetes: Step = {
  title: `Build Kubernetes ${versions.KUBERNETES_VERSION}, etcd and CoreDNS from their Go modules (about 5 minutes)`,
  skip: async (ctx) => ((await exists(await kubernetesBin(ctx))) ? 'built' : undefined),
  run: async (ctx) => {
    await cached(ctx, 'kubernetes', await key(), (dir) => build(ctx, dir));
  },
  remedy: 'check that Go is 1.21 or later and reaches its module proxy (go env GOPROXY), then run this again',
};
