import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import { Client, credentials, Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DEVICES, devicesFor, presentDevices, SHARES } from '../../../../../workers/node/device-plugin/devices.ts';
import { pluginService, registrationService } from '../../../../../workers/node/device-plugin/plugin.ts';
import type { Registration } from '../../../../../workers/node/device-plugin/registration.ts';
import { keepRegistered } from '../../../../../workers/node/device-plugin/registration.ts';
import { until } from '../../../../support/until.ts';

const KVM = { resource: 'devices.kubevirt.io/kvm', path: '/dev/kvm' };
const TUN = { resource: 'devices.kubevirt.io/tun', path: '/dev/net/tun' };
const quiet = { info: () => {}, warn: () => {} };

type Listed = { devices: { ID: string; health: string }[] };

/** The kubelet's side: registers, then listens to the plugin. */
class Kubelet {
  readonly registered: { version: string; endpoint: string; resourceName: string }[] = [];
  readonly listed: Listed[] = [];
  readonly clients: Client[] = [];
  #server = new Server();

  async start(directory: string): Promise<void> {
    for (const name of readdirSync(directory)) rmSync(join(directory, name));
    this.#server = new Server();
    this.#server.addService(registrationService, {
      register: (call: ServerUnaryCall<(typeof this.registered)[0], object>, reply: sendUnaryData<object>) => {
        this.registered.push(call.request);
        reply(null, {});
        this.#listen(join(directory, call.request.endpoint));
      },
    });
    const address = `unix:${join(directory, 'kubelet.sock')}`;
    await new Promise<void>((resolve, reject) =>
      this.#server.bindAsync(address, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      ),
    );
  }

  #listen(socket: string): void {
    const client = new Client(`unix:${socket}`, credentials.createInsecure());
    this.clients.push(client);
    const { path, requestSerialize, responseDeserialize } = pluginService['ListAndWatch']!;
    const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {});
    stream.on('data', (listed: Listed) => this.listed.push(listed)).on('error', () => {});
  }

  allocate(client: Client, request: object): Promise<unknown> {
    const { path, requestSerialize, responseDeserialize } = pluginService['Allocate']!;
    return new Promise((resolve, reject) =>
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, reply) =>
        error ? reject(error) : resolve(reply),
      ),
    );
  }

  stop(): void {
    for (const client of this.clients.splice(0)) client.close();
    this.#server.forceShutdown();
  }
}

let directory: string;
let over: AbortController;
let kubelet: Kubelet;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dp-'));
  over = new AbortController();
  kubelet = new Kubelet();
});
afterEach(async () => {
  over.abort();
  kubelet.stop();
  await rm(directory, { recursive: true });
});

const start = (devices = [KVM, TUN]): Registration =>
  keepRegistered({
    directory,
    devices: () => Promise.resolve(devices),
    log: quiet,
    signal: over.signal,
    checkMs: 50,
    backOffMs: [20],
  });

test('every device is registered, offered and handed out with its device node', async () => {
  await kubelet.start(directory);
  const registration = start();
  await until('the kubelet to listen', () => registration.state().ok);
  expect(
    kubelet.registered.map(({ version, endpoint, resourceName }) => ({ version, endpoint, resourceName })),
  ).toEqual([
    { version: 'v1beta1', endpoint: 'virtflow-kvm.sock', resourceName: 'devices.kubevirt.io/kvm' },
    { version: 'v1beta1', endpoint: 'virtflow-tun.sock', resourceName: 'devices.kubevirt.io/tun' },
  ]);
  await until('both lists', () => kubelet.listed.length === 2);
  expect(kubelet.listed[0]?.devices).toHaveLength(SHARES);
  expect(kubelet.listed[0]?.devices[0]).toEqual({ ID: '0', health: 'Healthy' });
  const [client] = kubelet.clients;
  const request = { containerRequests: [{ devicesIds: ['3'] }, { devicesIds: ['4'] }] };
  const spec = { containerPath: '/dev/kvm', hostPath: '/dev/kvm', permissions: 'rwm' };
  expect(await kubelet.allocate(client!, request)).toEqual({
    containerResponses: [{ devices: [spec] }, { devices: [spec] }],
  });
});

test('no kubelet: not well, and registered once it comes', async () => {
  const registration = start([TUN]);
  await until('the reason', () => registration.state().detail.includes('the kubelet does not run'));
  expect(registration.state().ok).toBe(false);
  await kubelet.start(directory);
  await until('the registration', () => registration.state().ok);
});

test('a kubelet that restarts finds every device again', async () => {
  await kubelet.start(directory);
  const registration = start([TUN]);
  await until('the registration', () => registration.state().ok);
  kubelet.stop();
  await until('the loss to be seen', () => !registration.state().ok);
  await kubelet.start(directory);
  await until('the second registration', () => kubelet.registered.length >= 2 && registration.state().ok);
});

test('a kubelet that refuses is told of', async () => {
  await writeFile(join(directory, 'kubelet.sock'), '');
  const registration = start([TUN]);
  await until('the reason', () => /ECONNREFUSED|UNAVAILABLE/.test(registration.state().detail));
});

test('the signal ends it', async () => {
  await kubelet.start(directory);
  const registration = start([TUN]);
  await until('the registration', () => registration.state().ok);
  over.abort();
  await registration.done;
});

test('KVM is offered only where it boots guests', () => {
  const paths = (usable: boolean) => devicesFor({ kvm: { usable } }).map(({ path }) => path);
  expect(paths(true)).toEqual(['/dev/kvm', '/dev/net/tun', '/dev/vhost-net']);
  expect(paths(false)).toEqual(['/dev/net/tun', '/dev/vhost-net']);
});

test('only character devices that are there are offered', async () => {
  const root = await mkdtemp(join(tmpdir(), 'host-'));
  await mkdir(join(root, 'dev'));
  await writeFile(join(root, 'dev', 'kvm'), 'a file');
  expect(await presentDevices(root)).toEqual([]);
  await rm(root, { recursive: true });
  const here = await presentDevices('/', [{ resource: 'x/null', path: '/dev/null' }, ...DEVICES.slice(2)]);
  expect(here[0]).toEqual({ resource: 'x/null', path: '/dev/null' });
  expect((await stat('/dev/null')).mode & 0o006).toBe(0o006);
});
