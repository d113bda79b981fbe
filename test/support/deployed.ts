import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { kubeClient } from '../../activities/kube/client.ts';
import type { Rest } from '../../activities/kube/rest.ts';
import { restOf } from '../../activities/kube/rest.ts';
import type { TestApiServer } from './api-server.ts';

/** The namespace that deploy/base is for. */
export const SYSTEM_NAMESPACE = 'virtflow';

/** As resources are called in paths: "Policy" makes "policies". */
const pluralOf = (kind: string): string => `${kind.toLowerCase()}s`.replace(/ys$/, 'ies');

/** Creates the namespace of deploy/base, and what these of its files hold. */
export async function applyBase(server: TestApiServer, files: string[]): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } };
  await server.rest.send({ method: 'POST', path: '/api/v1/namespaces', body: namespace });
  for (const file of files) {
    const text = await readFile(join(import.meta.dirname, '../../deploy/base', file), 'utf8');
    for (const document of parseAllDocuments(text)) {
      const body = document.toJSON() as { apiVersion: string; kind: string; metadata: { namespace?: string } };
      const root = body.apiVersion.includes('/') ? `/apis/${body.apiVersion}` : `/api/${body.apiVersion}`;
      const scope = body.metadata.namespace === undefined ? '' : `/namespaces/${body.metadata.namespace}`;
      await server.rest.send({ method: 'POST', path: `${root}${scope}/${pluralOf(body.kind)}`, body });
    }
  }
}

/** The API server as a Pod of that service account on that node sees it: with a token bound to the Pod. */
export async function asPod(server: TestApiServer, account: string, node: string): Promise<Rest> {
  const admin = kubeClient(server.rest);
  const name = `${account}-${node}`;
  await admin.create('Node', { apiVersion: 'v1', kind: 'Node', metadata: { name: node } }).catch(() => undefined);
  const pod = await admin.create('Pod', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: SYSTEM_NAMESPACE, name },
    spec: { nodeName: node, serviceAccountName: account, containers: [{ name: 'worker', image: 'worker' }] },
  });
  const answer = (await server.rest.send({
    method: 'POST',
    path: `/api/v1/namespaces/${SYSTEM_NAMESPACE}/serviceaccounts/${account}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid: pod.metadata?.uid } },
    },
  })) as { status: { token: string } };
  const config = server.kubeConfig();
  config.loadFromClusterAndUser(
    { name: 'test', server: `https://127.0.0.1:${server.port}`, skipTLSVerify: true },
    { name: account, token: answer.status.token },
  );
  return restOf(config, { timeoutMs: 10_000 });
}
