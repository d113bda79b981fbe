import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { createContext } from '../../deploy/local/context.ts';
import { kubernetesBin } from '../../deploy/local/steps/kubernetes.ts';
import { exists } from '../../deploy/local/cache.ts';
import { KubeError } from '../../activities/kube/port.ts';
import type { Rest } from '../../activities/kube/rest.ts';
import { restOf } from '../../activities/kube/rest.ts';
import { until } from './until.ts';
import { freePort } from './free-port.ts';

/** Where each kind of deploy/crds is served. */
const CRDS = [
  'kubevirt.io/v1/virtualmachines',
  'kubevirt.io/v1/virtualmachineinstances',
  'kubevirt.io/v1/virtualmachineinstancemigrations',
  'kubevirt.io/v1/virtualmachineinstancereplicasets',
  'kubevirt.io/v1/kubevirts',
  'migrations.kubevirt.io/v1alpha1/migrationpolicies',
  'instancetype.kubevirt.io/v1beta1/virtualmachineinstancetypes',
  'instancetype.kubevirt.io/v1beta1/virtualmachineclusterinstancetypes',
  'instancetype.kubevirt.io/v1beta1/virtualmachinepreferences',
  'instancetype.kubevirt.io/v1beta1/virtualmachineclusterpreferences',
];
const TOKEN = 'test-admin';

const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
};

export interface TestApiServer {
  port: number;
  /** By way of another address, for example a proxy's. */
  kubeConfig(port?: number): KubeConfig;
  kubeconfigFile: string;
  rest: Rest;
  /** kill -9 and start again on the same data; resolves when it serves. */
  restart(): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** An etcd and a kube-apiserver of our own (those that `./dev` builds), with virtflow's CRDs; nobody else is in this cluster. */
export const startApiServer = async (extraFlags: string[] = []): Promise<TestApiServer> => {
  const bin = await kubernetesBin(createContext());
  if (!(await exists(bin))) throw new Error(`no kube-apiserver in ${bin}: run ./dev up once`);
  const dir = await mkdtemp(join(tmpdir(), 'virtflow-api-'));
  const [etcdPort, peerPort, port] = await Promise.all([freePort(), freePort(), freePort()]);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const file = async (name: string, content: string): Promise<string> => {
    await writeFile(join(dir, name), content);
    return join(dir, name);
  };
  const signing = await file('signing.pem', privateKey);
  const verifying = await file('verifying.pem', publicKey);
  const tokens = await file('tokens.csv', `${TOKEN},admin,admin,system:masters\n`);
  const peer = `http://127.0.0.1:${peerPort}`;
  const client = `http://127.0.0.1:${etcdPort}`;
  const etcd = spawn(
    join(bin, 'etcd'),
    [
      ...['--data-dir', join(dir, 'etcd'), '--unsafe-no-fsync', '--log-level', 'error'],
      ...['--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', peer],
      ...['--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
    ],
    { stdio: 'ignore' },
  );
  const kubeConfig = (at = port): KubeConfig => {
    const config = new KubeConfig();
    config.loadFromClusterAndUser(
      { name: 'test', server: `https://127.0.0.1:${at}`, skipTLSVerify: true },
      { name: 'admin', token: TOKEN },
    );
    return config;
  };
  const rest = restOf(kubeConfig(), { timeoutMs: 10_000 });
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    server = spawn(
      join(bin, 'kube-apiserver'),
      [
        ...['--bind-address=127.0.0.1', `--secure-port=${port}`, `--cert-dir=${join(dir, 'certs')}`],
        ...[`--etcd-servers=${client}`, `--token-auth-file=${tokens}`, '--authorization-mode=RBAC'],
        ...[`--service-account-key-file=${verifying}`, `--service-account-signing-key-file=${signing}`],
        ...['--service-account-issuer=https://test', '--disable-admission-plugins=ServiceAccount'],
        ...['--service-cluster-ip-range=10.0.0.0/24', '--endpoint-reconciler-type=none', '-v=0'],
        ...extraFlags,
      ],
      { stdio: 'ignore' },
    );
    // While it starts it answers 503 for whatever it does not serve yet; afterwards 404 as long as the CRDs are not there.
    const ready = (): Promise<boolean> =>
      rest.send({ method: 'GET', path: '/apis/kubevirt.io/v1/virtualmachines' }).then(
        () => true,
        (error: unknown) => error instanceof KubeError && error.status === 404,
      );
    await until('the API server is ready', ready, { timeoutMs: 60_000, everyMs: 200 });
  };
  const kill = async (): Promise<void> => {
    if (server !== undefined) await end(server, 'SIGKILL');
  };
  await start();
  await installCrds(rest);
  return {
    port,
    kubeConfig,
    kubeconfigFile: await file('kubeconfig', kubeConfig().exportConfig()),
    rest,
    start,
    kill,
    restart: async () => {
      await kill();
      await start();
    },
    close: async () => {
      await kill();
      await end(etcd, 'SIGKILL');
      await rm(dir, { recursive: true, force: true });
    },
  };
};

const installCrds = async (rest: Rest): Promise<void> => {
  for (const served of CRDS) {
    const text = await readFile(join(import.meta.dirname, `../../deploy/crds/${basename(served)}.yaml`), 'utf8');
    for (const document of parseAllDocuments(text)) {
      await rest.send({
        method: 'POST',
        path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        body: document.toJSON() as object,
      });
    }
  }
  for (const path of CRDS) {
    const served = () =>
      rest.send({ method: 'GET', path: `/apis/${path}` }).then(
        () => true,
        () => false,
      );
    await until(`${path} are served`, served, { timeoutMs: 30_000, everyMs: 100 });
  }
};
