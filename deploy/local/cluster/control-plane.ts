import { join } from 'node:path';
import type { Context } from '../context.ts';
import { answers } from '../probe.ts';
import type { ProcessSpec } from '../process.ts';
import { succeeds } from '../shell.ts';
import { temporalCli } from '../steps/temporal.ts';
import {
  apiServerUrl,
  hostAddress,
  podNetwork,
  serviceNetwork,
  temporalAddress,
  temporalHost,
  temporalUiUrl,
} from './addresses.ts';
import { kubeconfigFile } from './kubeconfig.ts';
import { networkNamespaceFile } from './network.ts';
import { certFile, keyFile } from './pki.ts';

type Flags = Readonly<Record<string, string | true>>;

/** `{ a: 'b', c: true }` as `--a=b --c=true`, which every Kubernetes component takes. */
export const flags = (values: Flags): string[] => Object.entries(values).map(([name, value]) => `--${name}=${value}`);

const etcdUrl = `https://${hostAddress}:2379`;

/** Data is not synced to disk: it survives the end of any process, not that of the machine. */
export const etcd = (ctx: Context, bin: string): ProcessSpec => ({
  name: 'control-plane/etcd',
  command: [
    join(bin, 'etcd'),
    ...flags({
      'data-dir': join(ctx.stateDir, 'etcd'),
      'listen-client-urls': etcdUrl,
      'advertise-client-urls': etcdUrl,
      'listen-peer-urls': `https://${hostAddress}:2380`,
      'initial-advertise-peer-urls': `https://${hostAddress}:2380`,
      'initial-cluster': `default=https://${hostAddress}:2380`,
      'cert-file': certFile(ctx, 'etcd'),
      'key-file': keyFile(ctx, 'etcd'),
      'trusted-ca-file': certFile(ctx, 'etcd-ca'),
      'client-cert-auth': true,
      'peer-cert-file': certFile(ctx, 'etcd'),
      'peer-key-file': keyFile(ctx, 'etcd'),
      'peer-trusted-ca-file': certFile(ctx, 'etcd-ca'),
      'peer-client-cert-auth': true,
      'unsafe-no-fsync': true,
      'log-level': 'warn',
    }),
  ],
  address: etcdUrl,
  readyWithin: 30,
  ready: () =>
    answers(`${etcdUrl}/health`, {
      ca: certFile(ctx, 'etcd-ca'),
      cert: certFile(ctx, 'apiserver-etcd'),
      key: keyFile(ctx, 'apiserver-etcd'),
    }),
});

export const auditPolicyFile = (ctx: Context): string => join(ctx.stateDir, 'audit-policy.yaml');

export const apiServer = (ctx: Context, bin: string): ProcessSpec => ({
  name: 'control-plane/kube-apiserver',
  command: [
    join(bin, 'kube-apiserver'),
    ...flags({
      'bind-address': hostAddress,
      'advertise-address': hostAddress,
      'secure-port': '6443',
      'service-cluster-ip-range': serviceNetwork,
      'allow-privileged': true,
      'authorization-mode': 'Node,RBAC',
      'enable-admission-plugins': 'NodeRestriction',
      'tls-cert-file': certFile(ctx, 'apiserver'),
      'tls-private-key-file': keyFile(ctx, 'apiserver'),
      'client-ca-file': certFile(ctx, 'ca'),
      'etcd-servers': etcdUrl,
      'etcd-cafile': certFile(ctx, 'etcd-ca'),
      'etcd-certfile': certFile(ctx, 'apiserver-etcd'),
      'etcd-keyfile': keyFile(ctx, 'apiserver-etcd'),
      'kubelet-certificate-authority': certFile(ctx, 'ca'),
      'kubelet-client-certificate': certFile(ctx, 'apiserver-kubelet'),
      'kubelet-client-key': keyFile(ctx, 'apiserver-kubelet'),
      'kubelet-preferred-address-types': 'InternalIP',
      // Aggregated API servers and webhooks: reached by their Pods' addresses, since no kube-proxy runs here.
      'enable-aggregator-routing': true,
      'proxy-client-cert-file': certFile(ctx, 'front-proxy'),
      'proxy-client-key-file': keyFile(ctx, 'front-proxy'),
      'requestheader-client-ca-file': certFile(ctx, 'front-proxy-ca'),
      'requestheader-allowed-names': 'front-proxy-client',
      'requestheader-username-headers': 'X-Remote-User',
      'requestheader-group-headers': 'X-Remote-Group',
      'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
      'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
      'service-account-key-file': keyFile(ctx, 'service-account'),
      'service-account-signing-key-file': keyFile(ctx, 'service-account'),
      'audit-policy-file': auditPolicyFile(ctx),
      'audit-log-path': join(ctx.stateDir, 'logs/audit.log'),
      'audit-log-maxsize': '100',
      'audit-log-maxbackup': '2',
    }),
  ],
  address: apiServerUrl,
  readyWithin: 60,
  ready: () => answers(`${apiServerUrl}/readyz`, { ca: certFile(ctx, 'ca') }),
});

const authentication = (ctx: Context, user: string): Flags => ({
  kubeconfig: kubeconfigFile(ctx, user),
  'authentication-kubeconfig': kubeconfigFile(ctx, user),
  'authorization-kubeconfig': kubeconfigFile(ctx, user),
  'bind-address': hostAddress,
  'leader-elect': 'false',
});

export const controllerManager = (ctx: Context, bin: string): ProcessSpec => ({
  name: 'control-plane/kube-controller-manager',
  command: [
    join(bin, 'kube-controller-manager'),
    ...flags({
      ...authentication(ctx, 'controller-manager'),
      'root-ca-file': certFile(ctx, 'ca'),
      'service-account-private-key-file': keyFile(ctx, 'service-account'),
      'use-service-account-credentials': true,
      'cluster-signing-cert-file': certFile(ctx, 'ca'),
      'cluster-signing-key-file': keyFile(ctx, 'ca'),
      'cluster-cidr': podNetwork,
      'service-cluster-ip-range': serviceNetwork,
      'allocate-node-cidrs': 'false',
    }),
  ],
  address: `https://${hostAddress}:10257`,
  readyWithin: 60,
  ready: () => answers(`https://${hostAddress}:10257/healthz`),
});

export const scheduler = (ctx: Context, bin: string): ProcessSpec => ({
  name: 'control-plane/kube-scheduler',
  command: [join(bin, 'kube-scheduler'), ...flags(authentication(ctx, 'scheduler'))],
  address: `https://${hostAddress}:10259`,
  readyWithin: 60,
  ready: () => answers(`https://${hostAddress}:10259/healthz`),
});

export const corefile = (ctx: Context): string => join(ctx.stateDir, 'Corefile');

/** Reads its rules from a file whose content is given, so that a change starts it anew. */
export const dns = (ctx: Context, bin: string, rules: string): ProcessSpec => ({
  name: 'control-plane/coredns',
  command: [join(bin, 'coredns'), '-conf', corefile(ctx)],
  reads: [rules],
  address: `${hostAddress}:53`,
  readyWithin: 30,
  ready: () => answers(`http://${hostAddress}:8181/ready`),
});

/** Memory for CPU: its garbage collector runs a quarter as often. */
export const temporalEnvironment = ['env', 'GOGC=400'];

/**
 * Temporal's dev server with its UI, on one SQLite file, in a network of its own. Like etcd it does not wait for the disk: without a write-ahead log each of
 * a workflow's many small transactions would, and a hundred starts write gigabytes.
 */
export const temporalServer = (ctx: Context): ProcessSpec => ({
  name: 'control-plane/temporal',
  enter: ['nsenter', `--net=${networkNamespaceFile(temporalHost)}`, ...temporalEnvironment],
  command: [
    temporalCli(ctx),
    ...['server', 'start-dev', '--ip', '0.0.0.0', '--port', '7233', '--ui-port', '8233'],
    ...['--db-filename', join(ctx.stateDir, 'temporal/temporal.db'), '--log-level', 'warn'],
    ...['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=off'],
    // A worker that takes activities itself gets those of its workflow task with the answer, not by a queue.
    ...['--dynamic-config-value', 'system.enableActivityEagerExecution=true'],
    // One server gains nothing by dividing task queues: a task in another part than a worker polls is passed on, or written down and read again.
    ...['--dynamic-config-value', 'matching.numTaskqueueReadPartitions=1'],
    ...['--dynamic-config-value', 'matching.numTaskqueueWritePartitions=1'],
  ],
  address: `${temporalAddress}, UI ${temporalUiUrl}`,
  readyWithin: 60,
  ready: async () =>
    (await answers(temporalUiUrl)) &&
    (await succeeds([temporalCli(ctx), 'operator', 'cluster', 'health', '--address', temporalAddress])),
});
