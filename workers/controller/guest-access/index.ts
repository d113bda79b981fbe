import type { IncomingMessage } from 'node:http';
import { CREATED_BY_LABEL } from '../../../activities/facts/labels.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { GuestCall, GuestPod, GuestRef } from '../../../api/contract/guest-access.ts';
import {
  GUEST_ACCESS_PORT,
  GUEST_CALLS,
  GUEST_STREAM_PROTOCOL,
  guestPath,
} from '../../../api/contract/guest-access.ts';
import type { ClientOptions, NodeWorker } from './client.ts';
import { askNode } from './client.ts';
import type { GuestAccess, GuestAnswer } from './port.ts';
import { GuestAccessError } from './port.ts';

export interface GuestAccessOptions extends ClientOptions {
  kube: Pick<KubePort, 'list'>;
  /** Of the nodes' workers. */
  port?: number;
}

/** Longer than the node's worker waits for the launcher, and that for the guest: so that the answer says who is silent. In ms. */
const ANSWER_MS: Partial<Record<GuestCall, number>> = { freeze: 80_000, unfreeze: 80_000, guestosinfo: 60_000 };
const DEFAULT_ANSWER_MS = 30_000;
/** The picture of a large display. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The way to running guests through the workers of their nodes. Every request is looked up and verified anew: guests move. */
export const guestAccess = (options: GuestAccessOptions): GuestAccess => ({
  async call(guest, call, body, query) {
    const { pod, worker } = await locate(guest, options);
    const timeoutMs = ANSWER_MS[call] ?? DEFAULT_ANSWER_MS;
    const exchange = { method: GUEST_CALLS[call], path: guestPath(pod, call, query), body, timeoutMs };
    const outcome = await askNode(worker, exchange, options);
    if ('stream' in outcome) {
      outcome.stream.destroy();
      throw new GuestAccessError(502, `the worker of node ${guest.node} answered ${call} with a stream`);
    }
    return readAnswer(outcome.response, guest);
  },
  async open(guest, stream, params) {
    const { pod, worker } = await locate(guest, options);
    const path = guestPath(pod, stream, params);
    const upgrade = { protocol: GUEST_STREAM_PROTOCOL, halfOpen: stream === 'portforward' };
    const exchange = { method: 'GET', path, upgrade, timeoutMs: DEFAULT_ANSWER_MS };
    const outcome = await askNode(worker, exchange, options);
    if ('stream' in outcome) return outcome.stream;
    await readAnswer(outcome.response, guest);
    throw new GuestAccessError(502, `the worker of node ${guest.node} opened no stream`);
  },
});

/** The guest's Pod, read live, and the worker of its node, which listens on the node's own address. @throws GuestAccessError, KubeError */
const locate = async (
  guest: GuestRef,
  { kube, port = GUEST_ACCESS_PORT }: GuestAccessOptions,
): Promise<{ pod: GuestPod; worker: NodeWorker }> => {
  const { namespace, name, vmiUid, podUid, node } = guest;
  const pods = await kube.list('Pod', { namespace, labelSelector: `${CREATED_BY_LABEL}=${vmiUid}` });
  const pod = pods.find(({ metadata }) => metadata?.uid === podUid);
  const vmi = `VMI ${namespace}/${name}`;
  if (pod?.metadata?.name === undefined) throw new GuestAccessError(409, `${vmi}: its launcher Pod is gone`);
  if (pod.spec?.nodeName !== node) throw new GuestAccessError(409, `${vmi}: its launcher Pod is not on node ${node}`);
  const address = pod.status?.hostIP;
  if (address === undefined)
    throw new GuestAccessError(409, `${vmi}: its launcher Pod has not started on node ${node}`);
  return { pod: { ...guest, pod: pod.metadata.name }, worker: { node, address, port } };
};

const readAnswer = async (response: IncomingMessage, { node }: GuestRef): Promise<GuestAnswer> => {
  const { statusCode: status = 502, headers } = response;
  const bytes = await readAll(response, node);
  const contentType = headers['content-type'] ?? '';
  if (status >= 400) throw new GuestAccessError(ourStatus(status), messageOf(bytes, status, node));
  if (bytes.length === 0) return { status: 200 };
  if (contentType !== 'application/json') return { status: 200, bytes, contentType };
  return { status: 200, body: JSON.parse(bytes.toString('utf8')) as unknown };
};

/** That the node does not know us, or not the call, is not the user's fault. */
const ourStatus = (status: number): number => (status === 403 ? 502 : status === 404 || status === 405 ? 501 : status);

const messageOf = (bytes: Buffer, status: number, node: string): string => {
  try {
    const { message } = JSON.parse(bytes.toString('utf8')) as { message?: unknown };
    if (typeof message === 'string') return status === 403 ? `the worker of node ${node}: ${message}` : message;
  } catch {
    // Not from our own listener.
  }
  return `the worker of node ${node} answered with status ${status}`;
};

const readAll = async (response: IncomingMessage, node: string): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_ANSWER_BYTES) throw new Error(`more than ${MAX_ANSWER_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new GuestAccessError(502, `the answer of the worker of node ${node} broke off: ${why}`, error);
  }
  return Buffer.concat(chunks);
};
