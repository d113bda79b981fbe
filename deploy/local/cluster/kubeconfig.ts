import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Context } from '../context.ts';
import { apiServerUrl } from './addresses.ts';
import { certFile, keyFile } from './pki.ts';

/** A kubeconfig with its certificates inside, so that it can be read from anywhere. */
export async function kubeconfig(ctx: Context, user: string): Promise<string> {
  const inline = async (file: string): Promise<string> => (await readFile(file)).toString('base64');
  const credentials = {
    'client-certificate-data': await inline(certFile(ctx, user)),
    'client-key-data': await inline(keyFile(ctx, user)),
  };
  const cluster = { server: apiServerUrl, 'certificate-authority-data': await inline(certFile(ctx, 'ca')) };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'virtflow-local', cluster }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: 'virtflow-local', context: { cluster: 'virtflow-local', user } }],
    'current-context': 'virtflow-local',
  });
}

/** Where the kubeconfig of a control-plane process or of the administrator is kept. */
export const kubeconfigFile = (ctx: Context, user: string): string => join(ctx.stateDir, `${user}.kubeconfig`);
