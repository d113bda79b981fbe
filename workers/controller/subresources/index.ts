import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { routeOf } from '../../../api/subresources/route.ts';
import type { Status } from '../../../api/subresources/status.ts';
import { badRequest, internalError } from '../../../api/subresources/status.ts';
import { serverVersion } from '../../../api/subresources/version.ts';
import type { HttpsHandlers } from '../https/server.ts';
import { accessControl } from './access.ts';
import type { Answer } from './answer.ts';
import { refuse, respond, respondOnSocket, statusOf } from './answer.ts';
import { ClientGone, readBody } from './body.ts';
import { discovery } from './discovery.ts';
import { answerExpandedManifest } from './expand.ts';
import type { FrontProxy } from './front-proxy.ts';
import { health } from './health.ts';
import { askInstance } from './instance.ts';
import type { SubresourcePorts } from './ports.ts';
import { asksForWebSocket, createRelay } from './relay.ts';
import { openStream } from './streams.ts';
import { askVirtualMachine } from './virtual-machine.ts';

export interface SubresourceOptions extends SubresourcePorts {
  /** Whom to believe; undefined while it is not known. */
  frontProxy: () => FrontProxy | undefined;
  /** Ends open streams. */
  signal: AbortSignal;
}

/** Where on the HTTPS server the API is to be found. */
const MOUNTS = ['/', '/apis', '/openapi', '/healthz'];

/**
 * The aggregated API server for subresources.kubevirt.io: the API server forwards requests to it, users never come here themselves. Requests become
 * changes of objects, or go to the guest by way of its node; every replica serves all of them, whether or not Temporal is there.
 */
export const subresourceMounts = (options: SubresourceOptions): Record<string, HttpsHandlers> => {
  const { rest, frontProxy, signal, log } = options;
  const denial = accessControl(rest, frontProxy);
  const documents = discovery();
  const healthz = health(rest);
  const relay = createRelay(signal);

  const answerTo = async (request: IncomingMessage): Promise<Answer> => {
    const url = urlOf(request);
    const route = routeOf(request.method ?? '', url.pathname);
    if (route.kind === 'discovery') return documents(route, request);
    if (route.kind === 'healthz') return healthz();
    if (route.kind === 'version') {
      const { platform, arch, version } = process;
      return { status: 200, json: serverVersion(`${platform}/${arch}`, `node ${version}`) };
    }
    const denied = route.access === undefined ? undefined : await denial(request, route.access);
    if (denied !== undefined) return refuse(denied);
    if (route.kind === 'refused') return route;
    if (route.kind === 'stream') return refuse(NOT_UPGRADED);
    const body = await readBody(request, route.kind === 'expand-vm-spec');
    if (body.refusal !== undefined) return body;
    if (route.kind === 'expand-vm-spec') return answerExpandedManifest(options, body.value, route.namespace);
    const { question, namespace, name } = route;
    const asked = { body: body.value, query: url.searchParams };
    return question.resource === 'virtualmachines'
      ? askVirtualMachine(options, question.subresource, { namespace, name }, asked)
      : askInstance(options, question.subresource, { namespace, name }, asked);
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      respond(request, response, await answerTo(request));
    } catch (error) {
      if (error instanceof ClientGone) response.destroy();
      else respond(request, response, refuse(faultOf(error, request)));
    }
  };

  const openFor = async (request: IncomingMessage): ReturnType<typeof openStream> => {
    const url = urlOf(request);
    const route = routeOf(request.method ?? '', url.pathname);
    if (!('access' in route) || route.access === undefined) {
      return { refusal: route.kind === 'refused' ? route.refusal : NO_STREAM };
    }
    const denied = await denial(request, route.access);
    if (denied !== undefined) return { refusal: denied };
    if (route.kind === 'refused') return route;
    if (route.kind !== 'stream') return { refusal: NO_STREAM };
    if (!asksForWebSocket(request)) return { refusal: NOT_UPGRADED };
    return openStream(options, route.stream, url.searchParams);
  };

  const serveStream = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    try {
      const opened = await openFor(request);
      if (opened.refusal !== undefined) respondOnSocket(socket, opened.refusal);
      else if (socket.destroyed) opened.stream.destroy();
      else relay.join(request, socket, head, opened.stream);
    } catch (error) {
      respondOnSocket(socket, faultOf(error, request));
    }
  };

  /** What a user gets to hear of an error; what is no answer to the request stands in the log. */
  const faultOf = (error: unknown, { method, url }: IncomingMessage): Status => {
    const known = statusOf(error);
    if (known === undefined || known.code === 500) log.warn({ err: error, method, path: url }, 'request failed');
    return known ?? internalError('see the log of the controller');
  };

  /** One request that cannot even be answered ends its own connection, never the process. */
  const dropped = (connection: ServerResponse | Duplex) => (error: unknown) => {
    log.error({ err: error }, 'request not answered');
    connection.destroy();
  };
  const handlers: HttpsHandlers = {
    request: (request, response) => void serve(request, response).catch(dropped(response)),
    upgrade: (request, socket, head) => void serveStream(request, socket, head).catch(dropped(socket)),
  };
  return Object.fromEntries(MOUNTS.map((path) => [path, handlers]));
};

const NO_STREAM = badRequest('this is no stream: do not ask for a WebSocket');
const NOT_UPGRADED = badRequest('this is a stream: connect to it by WebSocket, with the subprotocol plain.kubevirt.io');

/** What cannot be read as a URL is the path of nothing. */
const urlOf = ({ url = '/' }: IncomingMessage): URL =>
  URL.parse(url, 'https://virtflow') ?? new URL('https://virtflow/?');
