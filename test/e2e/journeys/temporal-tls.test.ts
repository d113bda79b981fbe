import { mkdtemp, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import { stringify } from 'yaml';
import { hostAddress, temporalAddress } from '../../../deploy/local/cluster/addresses.ts';
import { createContext } from '../../../deploy/local/context.ts';
import { makeCertificates, startTerminator } from '../../support/tls-terminator.ts';
import type { Terminator } from '../../support/tls-terminator.ts';
import { kubectl } from '../support/kubectl.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { SYSTEM_NAMESPACE } from '../support/pods.ts';
import { NAMESPACE, createVm, deleteVm, untilReady } from '../support/vms.ts';

jest.setTimeout(400_000);

const NAME = 'over-tls';
const { root, stateDir } = createContext();
/** What `./dev up` deployed. */
const deployed = join(stateDir, 'deploy');
const apply = (directory: string) => kubectl(['apply', '--server-side', '--force-conflicts', '-k', directory]);

let directory: string;
let terminator: Terminator;

const rollout = async (): Promise<void> => {
  for (const workload of ['deployment/virtflow-controller', 'daemonset/virtflow-node'])
    await kubectl(['rollout', 'status', workload, '-n', SYSTEM_NAMESPACE, '--timeout=180s']);
};

/** As docs/installing.md says: the component, and the address of the server. */
async function deployWithTls(): Promise<void> {
  const overlay = join(directory, 'overlay');
  await mkdir(overlay);
  const from = (path: string): string => relative(overlay, path);
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: SYSTEM_NAMESPACE,
    resources: [from(deployed)],
    components: [from(join(root, 'deploy/components/temporal-tls'))],
    configMapGenerator: [
      { name: 'virtflow-temporal', behavior: 'merge', literals: [`TEMPORAL_ADDRESS=${terminator.address}`] },
    ],
  };
  await writeFile(join(overlay, 'kustomization.yaml'), stringify(kustomization));
  const files = ['tls.crt', 'tls.key', 'ca.crt'].map((file) => `--from-file=${file}=${join(directory, file)}`);
  await kubectl(['create', 'secret', 'generic', 'virtflow-temporal-tls', '-n', SYSTEM_NAMESPACE, ...files]);
  await apply(overlay);
  await rollout();
}

const withCertificate = (): Record<string, string> => ({
  TEMPORAL_TLS_CLIENT_CERT_PATH: join(directory, 'tls.crt'),
  TEMPORAL_TLS_CLIENT_KEY_PATH: join(directory, 'tls.key'),
});
const history = (more: Record<string, string>) =>
  execa('virtflow', ['history', NAME, '-n', NAMESPACE], {
    reject: false,
    env: {
      TEMPORAL_ADDRESS: terminator.address,
      TEMPORAL_TLS: 'true',
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(directory, 'ca.crt'),
      ...more,
    },
  });

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'virtflow-tls-')));
  makeCertificates(directory, hostAddress);
  terminator = await startTerminator(directory, hostAddress, temporalAddress);
  await ensureNamespace(NAMESPACE);
  await deleteVm(NAME);
  await kubectl(['delete', 'secret', 'virtflow-temporal-tls', '-n', SYSTEM_NAMESPACE, '--ignore-not-found']);
});
afterAll(async () => {
  await apply(deployed);
  await rollout();
  await kubectl(['delete', 'secret', 'virtflow-temporal-tls', '-n', SYSTEM_NAMESPACE, '--ignore-not-found']);
  await deleteVm(NAME);
  terminator.close();
  await rm(directory, { recursive: true });
});

test('workers deployed with the temporal-tls component start a VM by way of a TLS terminator that demands their certificate', async () => {
  await deployWithTls();
  // The controller's connections, and those of both nodes.
  expect(terminator.clients.length).toBeGreaterThanOrEqual(3);
  expect(new Set(terminator.clients)).toEqual(new Set(['tls']));
  await createVm(NAME);
  await untilReady(NAME);
});

test('the command goes the same way', async () => {
  const { exitCode, stdout } = await history(withCertificate());
  expect(exitCode).toBe(0);
  expect(stdout).toContain('start succeeded');
});

test('without a certificate the command is refused, and says where to look', async () => {
  const { exitCode, stderr } = await history({});
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`virtflow: Temporal at ${terminator.address} cannot be reached`);
  expect(stderr).toContain('TEMPORAL_TLS_CLIENT_CERT_PATH');
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
