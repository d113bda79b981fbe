import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { PeerCredentials } from '../../../api/contract/certificates.ts';
import type { GuestStream } from '../../../api/contract/guest-access.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import type { Logger } from '../../shared/logging.ts';
import type { CallAnswer } from './calls.ts';
import { calls } from './calls.ts';
import { connectGuest } from './connect-guest.ts';
import type { GuestPorts } from './guest.ts';
import { withGuest } from './guest.ts';
import { listenForControllers } from './listener.ts';
import { Refusal } from './refusal.ts';
import { readBody, readCall, readStream } from './request.ts';
import type { StreamsOptions } from './streams.ts';
import { Streams } from './streams.ts';

export interface GuestAccessOptions extends StreamsOptions {
  ports: GuestPorts;
  /** The node's own address, and the port to listen on; 0: any. */
  address: string;
  port: number;
  credentials: PeerCredentials;
  /** Of the listener, with clients that have not said yet what they want; in ms. */
  patienceMs?: number;
  log: Pick<Logger, 'info' | 'warn' | 'debug'>;
  signal: AbortSignal;
}

/** Access to the guests of this node, for controllers, until the signal. Needs neither Temporal nor anything of the guest's own but what is asked. */
export interface RunningGuestAccess {
  /** Told of every report of a launcher here: streams end with their guest, and when it moves away. */
  reported(report: DomainReport): void;
  /** The Pod has ended, whatever its launcher said last. */
  podEnded(podUid: string): void;
  /** Port that it listens on. */
  port(): number | undefined;
  /** Undefined: it listens; else why not. */
  trouble(): string | undefined;
  /** Open now. */
  streams(): Record<GuestStream, number>;
  done: Promise<void>;
}

/** The largest body is a freeze's time. */
const MAX_BODY_BYTES = 64 * 1024;

export const guestAccess = (options: GuestAccessOptions): RunningGuestAccess => {
  const { ports, log, signal } = options;
  const streams = new Streams(options);

  const call = async (message: IncomingMessage): Promise<CallAnswer> => {
    const request = readCall(message);
    const body = await readBody(message, MAX_BODY_BYTES);
    return withGuest(ports, request, (launcher) => calls[request.what](launcher, { body, params: request.params }));
  };

  const stream = async (message: IncomingMessage, accept: () => Socket): Promise<void> => {
    const request = readStream(message);
    // Verified first: whoever is displaced must not be so by a request that leads nowhere.
    const pod = await withGuest(ports, request, (_, live) => Promise.resolve(live));
    const place = streams.take(request);
    let guest: Socket | undefined;
    try {
      guest = await connectGuest(ports.pods, request, pod);
      if (message.socket.destroyed) throw new Refusal(400, 'the client has gone');
      place.join(guest, accept);
      const { namespace, name } = request.vmi;
      log.info(
        { vmi: `${namespace}/${name}`, podUid: request.pod.uid, stream: request.what },
        'a stream to a guest is open',
      );
    } catch (error) {
      place.leave();
      guest?.destroy();
      throw error;
    }
  };

  const listener = listenForControllers({ ...options, call, stream });
  signal.addEventListener('abort', () => streams.closeAll(), { once: true });
  return {
    reported: (report) => streams.reported(report),
    podEnded: (podUid) => streams.closePod(podUid),
    port: () => listener.port(),
    trouble: () => (listener.port() === undefined ? listener.detail() : undefined),
    streams: () => streams.count(),
    done: listener.done,
  };
};
