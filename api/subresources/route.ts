import type { GuestStream } from '../contract/guest-access.ts';
import type { InstanceSubresource, Method, VirtualMachineSubresource } from './catalogue.ts';
import {
  CLUSTER_WIDE,
  INSTANCE,
  NOT_SERVED,
  STREAMS,
  SUBRESOURCES_GROUP,
  SUBRESOURCES_VERSIONS,
  VIRTUAL_MACHINE,
} from './catalogue.ts';
import type { Status } from './status.ts';
import { badRequest, methodNotAllowed, notImplemented, pathNotFound } from './status.ts';

/** What RBAC decides on: the real subresource, without a port or protocol. */
export interface Access {
  verb: 'get' | 'update';
  version: string;
  namespace: string;
  resource: string;
  subresource?: string;
  name?: string;
}

/** Port of the guest that a stream goes to. */
export interface ForwardTo {
  port: number;
  protocol: 'tcp' | 'udp';
}

/** What an object is asked for. */
export type Question =
  | { resource: 'virtualmachines'; subresource: VirtualMachineSubresource }
  | { resource: 'virtualmachineinstances'; subresource: InstanceSubresource };

/** A document that tells what there is. */
export type DiscoveryRoute = {
  kind: 'discovery';
  document: 'root' | 'groups' | 'group' | 'resources' | 'openapi-v2' | 'openapi-v3';
  /** '' where it is of all versions. */
  version: string;
};

/** A request by its path: open to all, or for those who have `access`. Only they get to hear why it is refused, too. */
export type Route =
  | DiscoveryRoute
  | { kind: 'version' }
  | { kind: 'healthz' }
  | { kind: 'refused'; refusal: Status; access?: Access }
  | { kind: 'expand-vm-spec'; namespace: string; access: Access }
  | { kind: 'question'; question: Question; namespace: string; name: string; access: Access }
  | { kind: 'stream'; stream: StreamRoute; access: Access };

/** A stream that is asked for. `forward`: of portforward. */
export interface StreamRoute {
  resource: Question['resource'];
  stream: GuestStream;
  namespace: string;
  name: string;
  forward?: ForwardTo;
}

const GROUP_PATH = `/apis/${SUBRESOURCES_GROUP}`;
const OPENAPI_PATH = `/openapi/v3${GROUP_PATH}`;

/** What a request with this method and path (without query) is. Never throws. */
export const routeOf = (method: string, path: string): Route => {
  const parts = decoded(path);
  if (parts === undefined)
    return { kind: 'refused', refusal: badRequest('the path of the request is not well encoded') };
  return (isRead(method) ? openRoute(parts.join('/')) : undefined) ?? groupRoute(method, parts);
};

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** Parts of a path, a slash at its end or twice in it left out. */
const decoded = (path: string): string[] | undefined => {
  try {
    return path
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
};

const openRoute = (path: string): Route | undefined => {
  const discovery = (document: DiscoveryRoute['document'], version = ''): Route => ({
    ...{ kind: 'discovery', document, version },
  });
  const group = GROUP_PATH.slice(1);
  if (path === '') return discovery('root');
  if (path === 'apis') return discovery('groups');
  if (path === group) return discovery('group');
  if (path === 'openapi/v2') return discovery('openapi-v2');
  if (path === 'openapi/v3') return discovery('openapi-v3');
  if (path === 'healthz') return { kind: 'healthz' };
  for (const version of SUBRESOURCES_VERSIONS) {
    if (path === `${group}/${version}`) return discovery('resources', version);
    if (path === `${OPENAPI_PATH.slice(1)}/${version}`) return discovery('openapi-v3', version);
    const wide = CLUSTER_WIDE.find((name) => path === `${group}/${version}/${name}`);
    if (wide !== undefined) return { kind: wide };
  }
  return undefined;
};

/** /apis/subresources.kubevirt.io/<version>/namespaces/<namespace>/<resource>/<name>/<subresource> */
const groupRoute = (method: string, parts: readonly string[]): Route => {
  const [apis, group, version = '', namespaces, namespace = '', resource = '', name = '', ...rest] = parts;
  const isOurs = apis === 'apis' && group === SUBRESOURCES_GROUP && namespaces === 'namespaces';
  if (!isOurs || !SUBRESOURCES_VERSIONS.some((known) => known === version)) return refused(pathNotFound());
  const verb = isRead(method) ? 'get' : 'update';
  if (resource === 'expand-vm-spec' && name === '') {
    const access: Access = { verb, version, namespace, resource };
    return method === 'PUT' ? { kind: 'expand-vm-spec', namespace, access } : refused(methodNotAllowed('PUT'), access);
  }
  if (resource !== 'virtualmachines' && resource !== 'virtualmachineinstances') return refused(pathNotFound());
  if (name === '' || rest.length === 0) return refused(pathNotFound());
  const subresource = rest[0] === 'portforward' ? rest[0] : rest.join('/');
  const access: Access = { verb, version, namespace, resource, subresource, name };
  const stream = STREAMS[resource].find((one) => one === subresource);
  if (stream !== undefined) {
    if (method !== 'GET') return refused(methodNotAllowed('GET'), access);
    const route: StreamRoute = { resource, stream, namespace, name };
    if (stream !== 'portforward') return { kind: 'stream', stream: route, access };
    const forward = forwardTo(rest.slice(1));
    return typeof forward === 'string'
      ? refused(badRequest(forward), access)
      : { kind: 'stream', stream: { ...route, forward }, access };
  }
  const question = questionOf(resource, subresource);
  if (question === undefined) {
    const reason = NOT_SERVED.get(subresource);
    return refused(reason === undefined ? pathNotFound() : notImplemented(reason), access);
  }
  const allowed = methodOf(question);
  if (method !== allowed) return refused(methodNotAllowed(allowed), access);
  return { kind: 'question', question, namespace, name, access };
};

const refused = (refusal: Status, access?: Access): Route => ({
  ...{ kind: 'refused', refusal },
  ...(access === undefined ? {} : { access }),
});

const questionOf = (resource: Question['resource'], name: string): Question | undefined => {
  if (resource === 'virtualmachines')
    return isKeyOf(VIRTUAL_MACHINE, name) ? { resource, subresource: name } : undefined;
  return isKeyOf(INSTANCE, name) ? { resource, subresource: name } : undefined;
};

const methodOf = ({ resource, subresource }: Question): Method =>
  resource === 'virtualmachines' ? VIRTUAL_MACHINE[subresource] : INSTANCE[subresource];

const isKeyOf = <T extends object>(table: T, key: string): key is Extract<keyof T, string> => Object.hasOwn(table, key);

/** Port and protocol (tcp if there is none), or what is wrong with them. */
const forwardTo = ([port = '', protocol = 'tcp', ...more]: readonly string[]): ForwardTo | string => {
  if (port === '') return 'port must not be empty';
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
    return `port "${port}" is no number from 1 to 65535`;
  }
  if (more.length > 0 || (protocol !== 'tcp' && protocol !== 'udp')) {
    return `protocol "${[protocol, ...more].join('/')}" is not known: use tcp or udp`;
  }
  return { port: Number(port), protocol };
};
