import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KubeConfig } from '@kubernetes/client-node';
import { connectionsOf } from '../../../../activities/kube/connection.ts';

let directory: string;
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'virtflow-connection-'))));
afterAll(() => rm(directory, { recursive: true }));

/** As a Pod has it: the token is in a file. */
const configWith = (tokenFile: string, server = 'https://api:6443/k8s/'): KubeConfig => {
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server, skipTLSVerify: false },
    { name: 'u', authProvider: { name: 'tokenFile', config: { tokenFile } } },
  );
  return config;
};

test('a request goes to the server and path of the kubeconfig, as its user', async () => {
  const token = join(directory, 'token');
  await writeFile(token, 'first');
  const { options, basePath, headers } = await connectionsOf(configWith(token)).current();
  expect(options).toMatchObject({ protocol: 'https:', hostname: 'api', port: 6443 });
  expect(basePath).toBe('/k8s');
  expect(headers).toEqual({ Authorization: 'Bearer first' });
});

test('credentials are read again after a while, and connections outlive that unless they were opened with others', async () => {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'c', server: 'https://api', skipTLSVerify: true }, { name: 'u', token: 'a' });
  let now = 0;
  const connections = connectionsOf(config, () => now);
  const first = await connections.current();
  config.users = [{ name: 'u', token: 'b' }];
  await expect(connections.current()).resolves.toBe(first);
  now = 10_001;
  const second = await connections.current();
  expect(second.headers).toEqual({ Authorization: 'Bearer b' });
  expect(second.options.agent).toBe(first.options.agent);
  config.clusters = [{ name: 'c', server: 'https://api', skipTLSVerify: false }];
  now = 20_002;
  expect((await connections.current()).options.agent).not.toBe(first.options.agent);
});

test('credentials that were refused, or could not be read, are read again at once', async () => {
  const token = join(directory, 'late');
  const connections = connectionsOf(configWith(token), () => 0);
  await expect(connections.current()).rejects.toThrow('ENOENT');
  await writeFile(token, 'there');
  const read = await connections.current();
  expect(read.headers).toEqual({ Authorization: 'Bearer there' });
  connections.forget();
  await expect(connections.current()).resolves.not.toBe(read);
});
