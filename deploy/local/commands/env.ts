import { delimiter } from 'node:path';
import { temporalAddress, temporalUiUrl } from '../cluster/addresses.ts';
import { kubeconfigFile } from '../cluster/kubeconfig.ts';
import type { Context } from '../context.ts';
import { commandsDir } from '../steps/commands.ts';
import { temporalTestServer } from '../steps/temporal.ts';

/** What tools need to reach the local cluster: standard variables of kubectl and of Temporal's SDKs and CLI. */
export const clusterEnv = (ctx: Context, path = process.env['PATH'] ?? ''): Record<string, string> => ({
  KUBECONFIG: kubeconfigFile(ctx, 'admin'),
  TEMPORAL_ADDRESS: temporalAddress,
  TEMPORAL_NAMESPACE: 'virtflow',
  VIRTFLOW_TEMPORAL_UI: temporalUiUrl,
  TEMPORAL_TEST_SERVER: temporalTestServer(ctx),
  PATH: path.split(delimiter).includes(commandsDir(ctx)) ? path : `${commandsDir(ctx)}${delimiter}${path}`,
});

const quote = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

/** The variables as lines for `eval "$(./dev env)"`. PATH grows the shell's own instead of replacing it. */
export const exports = (ctx: Context): string =>
  Object.entries(clusterEnv(ctx, ''))
    .map(([name, value]) =>
      name === 'PATH' ? `export PATH=${quote(commandsDir(ctx))}:"$PATH"` : `export ${name}=${quote(value)}`,
    )
    .join('\n');
