import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { launchersIn } from '../../activities/node/launcher-client/client.ts';
import { migrationProxy } from '../../activities/node/migration-proxy/index.ts';
import type { TargetSession } from '../../activities/node/migration-proxy/port.ts';
import type { TlsCredentials } from '../../api/contract/certificates.ts';
import { credentialsOf } from './peers.ts';
import { until } from './until.ts';

/** What the process is told, as JSON in the file that its argument names. */
export interface ProxyProcessInput {
  node: string;
  pods: string;
  directory: string;
  credentials: TlsCredentials;
  session: TargetSession;
}

/** A target's proxy in a process of its own, which a test can freeze and kill. Says on which port it listens. */
const main = async (file: string): Promise<void> => {
  const { node, pods, directory, credentials, session } = JSON.parse(readFileSync(file, 'utf8')) as ProxyProcessInput;
  const proxy = migrationProxy({
    pods,
    address: '127.0.0.1',
    port: 0,
    directory,
    credentials: credentialsOf(credentials),
    launchers: launchersIn(pods, node),
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  });
  await proxy.admit(session);
  await until('the proxy to listen', () => proxy.trouble() === undefined);
  console.log(proxy.endpoint().port);
};

const [, script = '', input] = process.argv;
if (input !== undefined && import.meta.filename === script) await main(input);
