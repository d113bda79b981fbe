import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { Client, credentials, Server, ServerCredentials } from '@grpc/grpc-js';
import type { ServiceDefinition } from '@grpc/proto-loader';
import { loadSync } from '@grpc/proto-loader';
import type { Device } from './devices.ts';
import { SHARES } from './devices.ts';

/** Version of the API that the kubelet checks, and name of its own socket. */
const API_VERSION = 'v1beta1';
export const KUBELET_SOCKET = 'kubelet.sock';

const proto = loadSync(fileURLToPath(new URL('./device-plugin.proto', import.meta.url)), { defaults: true });
export const registrationService = proto['v1beta1.Registration'] as ServiceDefinition;
export const pluginService = proto['v1beta1.DevicePlugin'] as ServiceDefinition;

/** One device offered to the kubelet. */
export interface DevicePlugin {
  device: Device;
  /** Its socket in the kubelet's directory. */
  endpoint: string;
  /** True while the kubelet listens to us: that is what its registration amounts to. */
  isWatched(): boolean;
  stop(): void;
}

type List = ServerWritableStream<object, { devices: { ID: string; health: string }[] }>;
type Allocation = { containerRequests: { devicesIds: string[] }[] };

/** Serves a device on its own socket and registers it. @throws Error when the kubelet refuses */
export const offerDevice = async (directory: string, device: Device): Promise<DevicePlugin> => {
  const endpoint = `virtflow-${device.resource.slice(device.resource.indexOf('/') + 1)}.sock`;
  const watchers = new Set<List>();
  const server = new Server();
  server.addService(pluginService, {
    getDevicePluginOptions: (_: unknown, reply: sendUnaryData<object>) => reply(null, {}),
    listAndWatch(call: List) {
      watchers.add(call);
      const drop = (): void => void watchers.delete(call);
      call.on('cancelled', drop).on('close', drop).on('error', drop);
      call.write({ devices: Array.from({ length: SHARES }, (_, n) => ({ ID: `${n}`, health: 'Healthy' })) });
    },
    allocate(call: ServerUnaryCall<Allocation, object>, reply: sendUnaryData<object>) {
      const spec = { containerPath: device.path, hostPath: device.path, permissions: 'rwm' };
      reply(null, { containerResponses: call.request.containerRequests.map(() => ({ devices: [spec] })) });
    },
  });
  await rm(join(directory, endpoint), { force: true });
  await bind(server, join(directory, endpoint));
  const stop = (): void => {
    for (const watcher of watchers) watcher.end();
    server.forceShutdown();
  };
  try {
    await register(join(directory, KUBELET_SOCKET), { endpoint, resourceName: device.resource });
  } catch (error) {
    stop();
    throw error;
  }
  return { device, endpoint, isWatched: () => watchers.size > 0, stop };
};

const bind = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) =>
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );

const REGISTER_MS = 5_000;

const register = async (kubelet: string, request: { endpoint: string; resourceName: string }): Promise<void> => {
  const client = new Client(`unix:${kubelet}`, credentials.createInsecure(), { 'grpc.enable_http_proxy': 0 });
  const method = registrationService['Register'];
  if (method === undefined) throw new Error('device-plugin.proto has no method Register');
  try {
    await new Promise<void>((resolve, reject) =>
      client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        { version: API_VERSION, options: {}, ...request },
        { deadline: Date.now() + REGISTER_MS },
        (error) => (error ? reject(error) : resolve()),
      ),
    );
  } finally {
    client.close();
  }
};
