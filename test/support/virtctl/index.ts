import type { RequestOptions } from 'node:https';
import { request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { KubeConfig } from '@kubernetes/client-node';
import { WebSocket } from 'ws';

/** What the API server answered. */
export interface Reply {
  status: number;
  contentType: string;
  body: Buffer;
  /** Of a JSON answer. */
  json: Record<string, unknown>;
}

export interface VirtctlOptions {
  namespace: string;
  /** Whom to act as, in place of the kubeconfig's own user. */
  as?: { user: string; groups?: string[] };
  version?: 'v1' | 'v1alpha3';
}

type Resource = 'virtualmachines' | 'virtualmachineinstances';
type Query = Record<string, string>;

/** The same requests as virtctl makes, by way of the API server. Nothing is an error: what was answered is for the test to judge. */
export const virtctl = (config: KubeConfig, { namespace, as, version = 'v1' }: VirtctlOptions) => {
  const group = `/apis/subresources.kubevirt.io/${version}`;
  const pathOf = (resource: Resource, name: string, subresource: string): string =>
    `${group}/namespaces/${namespace}/${resource}/${name}/${subresource}`;
  const headers = {
    ...(as === undefined ? {} : { 'impersonate-user': as.user }),
    ...(as?.groups === undefined ? {} : { 'impersonate-group': as.groups }),
  };

  const optionsFor = async (
    method: string,
    path: string,
    query: Query = {},
  ): Promise<RequestOptions & { url: URL }> => {
    const url = new URL((config.getCurrentCluster()?.server ?? '') + path);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const options: RequestOptions = { method, headers: {} };
    await config.applyToHTTPSOptions(options);
    return {
      ...options,
      headers: { ...(options.headers as object), accept: 'application/json, */*', ...headers },
      url,
    };
  };

  /** `body`: an object is sent as JSON, a text as it is. */
  const send = async (
    method: string,
    path: string,
    { body, query, type = 'application/json' }: { body?: unknown; query?: Query; type?: string } = {},
  ): Promise<Reply> => {
    const { url, ...options } = await optionsFor(method, path, query);
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const sent = {
      ...options,
      headers: {
        ...(options.headers as object),
        ...(text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
      },
    };
    return new Promise((resolve, reject) => {
      const asked = request(url, sent, (response) => {
        const { statusCode: status = 0, headers: answered } = response;
        const contentType = answered['content-type'] ?? '';
        buffer(response).then((bytes) => resolve({ status, contentType, body: bytes, json: jsonOf(bytes) }), reject);
      });
      asked.on('error', reject);
      asked.end(text);
    });
  };

  const put = (resource: Resource, subresource: string) => (name: string, body?: unknown, query?: Query) =>
    send('PUT', pathOf(resource, name, subresource), { body, ...(query === undefined ? {} : { query }) });
  const get = (resource: Resource, subresource: string) => (name: string, query?: Query) =>
    send('GET', pathOf(resource, name, subresource), query === undefined ? {} : { query });

  /** A WebSocket as virtctl opens it; not yet open. */
  const stream = async (resource: Resource, name: string, subresource: string, query?: Query): Promise<WebSocket> => {
    const {
      url,
      method: _,
      agent: __,
      ...options
    } = await optionsFor('GET', pathOf(resource, name, subresource), query);
    url.protocol = 'wss:';
    return new WebSocket(url, ['plain.kubevirt.io'], { ...options, perMessageDeflate: false });
  };

  return {
    send,
    start: put('virtualmachines', 'start'),
    stop: put('virtualmachines', 'stop'),
    restart: put('virtualmachines', 'restart'),
    migrate: put('virtualmachines', 'migrate'),
    addVolume: put('virtualmachines', 'addvolume'),
    expand: get('virtualmachines', 'expand-spec'),
    expandManifest: (body: unknown, type?: string) =>
      send('PUT', `${group}/namespaces/${namespace}/expand-vm-spec`, { body, ...(type === undefined ? {} : { type }) }),
    pause: put('virtualmachineinstances', 'pause'),
    unpause: put('virtualmachineinstances', 'unpause'),
    reset: put('virtualmachineinstances', 'reset'),
    softReboot: put('virtualmachineinstances', 'softreboot'),
    freeze: put('virtualmachineinstances', 'freeze'),
    unfreeze: put('virtualmachineinstances', 'unfreeze'),
    evacuateCancel: put('virtualmachineinstances', 'evacuate/cancel'),
    guestOsInfo: get('virtualmachineinstances', 'guestosinfo'),
    userList: get('virtualmachineinstances', 'userlist'),
    filesystemList: get('virtualmachineinstances', 'filesystemlist'),
    screenshot: get('virtualmachineinstances', 'vnc/screenshot'),
    version: () => send('GET', `${group}/version`),
    console: (name: string) => stream('virtualmachineinstances', name, 'console'),
    vnc: (name: string, query?: Query) => stream('virtualmachineinstances', name, 'vnc', query),
    portForward: (name: string, port: number, protocol?: string, resource: Resource = 'virtualmachines') =>
      stream(resource, name, `portforward/${port}${protocol === undefined ? '' : `/${protocol}`}`),
  };
};

export type Virtctl = ReturnType<typeof virtctl>;

const jsonOf = (body: Buffer): Record<string, unknown> => {
  try {
    return JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  } catch {
    return {};
  }
};
