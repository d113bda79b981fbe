import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { pino } from 'pino';
import { launchersIn } from '../../activities/node/launcher-client/client.ts';
import type { PeerCredentials } from '../../api/contract/certificates.ts';
import { CONTROLLER_URI } from '../../api/contract/certificates.ts';
import type { GuestRef } from '../../api/contract/guest-access.ts';
import type { Pod } from '../../api/kubernetes/types.ts';
import type { GuestAccess } from '../../workers/controller/guest-access/port.ts';
import { guestAccess as controllerAccess } from '../../workers/controller/guest-access/index.ts';
import type { RunningGuestAccess } from '../../workers/node/guest-access/index.ts';
import { guestAccess as nodeAccess } from '../../workers/node/guest-access/index.ts';
import type { Authority } from './peers.ts';
import { credentialsOf } from './peers.ts';
import { until } from './until.ts';

export interface TestGuestAccess {
  node: RunningGuestAccess;
  port: number;
  /** The controller's way to it. */
  guests: GuestAccess;
  guest: GuestRef;
  /** As the API server has it; may be changed. */
  pod: Pod;
  nodeCredentials: ReturnType<typeof credentialsOf>;
  /** Another controller, or who claims to be one. */
  as: (credentials: PeerCredentials, connectMs?: number) => GuestAccess;
  stop: () => Promise<void>;
}

export interface TestGuestAccessOptions {
  ca: Authority;
  /** The kubelet's pods directory. */
  pods: string;
  vmi: { namespace: string; name: string; uid: string };
  podUid: string;
  consoleStallMs?: number;
  maxPerGuest?: number;
  patienceMs?: number;
}

export const NODE = 'node-a';

/** Node worker and controller with everything between a subresource and a launcher; the API server knows one Pod. */
export const startGuestAccess = async ({
  ca,
  pods,
  vmi,
  podUid,
  ...limits
}: TestGuestAccessOptions): Promise<TestGuestAccess> => {
  const log = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' });
  const stopping = new AbortController();
  const pod: Pod = {
    metadata: {
      namespace: vmi.namespace,
      name: 'launcher',
      uid: podUid,
      labels: { 'kubevirt.io/created-by': vmi.uid },
    },
    spec: { nodeName: NODE, containers: [] },
    status: { phase: 'Running', hostIP: '127.0.0.1', podIP: '127.0.0.1' },
  };
  const kube = { get: () => Promise.resolve(pod), list: () => Promise.resolve([pod]) } as never;
  const nodeCredentials = credentialsOf(ca.issue({ node: NODE }));
  const node = nodeAccess({
    ports: { kube, node: NODE, pods, launchers: launchersIn(pods, NODE) },
    ...{ address: '127.0.0.1', port: 0, credentials: nodeCredentials, log, signal: stopping.signal, ...limits },
  });
  const port = await until('the node worker listens', () => node.port());
  const as = (credentials: PeerCredentials, connectMs?: number): GuestAccess =>
    controllerAccess({ kube, credentials, port, ...(connectMs === undefined ? {} : { connectMs }) });
  return {
    ...{ node, port, pod, nodeCredentials, as },
    guests: as(credentialsOf(ca.issue({ san: `URI:${CONTROLLER_URI}` }))),
    guest: { namespace: vmi.namespace, name: vmi.name, vmiUid: vmi.uid, podUid, node: NODE },
    stop: async () => {
      stopping.abort();
      await node.done;
    },
  };
};

/** Waits until a stream is closed; true when it ended in order. */
export const ended = async (stream: Duplex): Promise<boolean> => {
  if (!stream.closed) {
    stream.resume();
    stream.once('end', () => stream.end());
    await once(stream, 'close');
  }
  return stream.readableEnded;
};
