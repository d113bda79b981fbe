import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { errorCode } from '../../../activities/node/files/error-code.ts';
import { connectInPod } from '../../../activities/node/migration-proxy/pod-sockets.ts';
import type { GuestStream } from '../../../api/contract/guest-access.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import { SERIAL_SOCKET, VNC_SOCKET } from '../../../api/launcher/paths.ts';
import { Refusal } from './refusal.ts';
import type { GuestRequest } from './request.ts';

const SOCKETS = {
  console: { path: SERIAL_SOCKET, missing: 'the VMI has no serial console: autoattachSerialConsole is false' },
  vnc: { path: VNC_SOCKET, missing: 'the VMI has no display: autoattachGraphicsDevice is false' },
};
/** QEMU is near; a guest's own program may be slow to take a connection. In ms. */
const SOCKET_MS = 5_000;
const PORT_MS = 10_000;

/** Connects to what the stream leads to. @throws Refusal */
export const connectGuest = (pods: string, request: GuestRequest<GuestStream>, pod: Pod): Promise<Socket> =>
  request.what === 'portforward'
    ? connectPort(request.params, pod)
    : connectSocket(pods, request.pod.uid, request.what);

const connectSocket = async (pods: string, podUid: string, what: 'console' | 'vnc'): Promise<Socket> => {
  const { path, missing } = SOCKETS[what];
  try {
    return await connectInPod(pods, podUid, path, SOCKET_MS);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw new Refusal(409, missing, error);
    throw new Refusal(502, `${what}: QEMU cannot be reached: ${error instanceof Error ? error.message : ''}`, error);
  }
};

/** The guest stands behind its Pod's address, however it is bound to the network. */
const connectPort = async (
  { port = '', protocol = 'tcp' }: GuestRequest<'portforward'>['params'],
  { status }: Pod,
): Promise<Socket> => {
  if (protocol !== 'tcp') throw new Refusal(501, `portforward by ${protocol} is not supported: only tcp`);
  const number = Number(port);
  if (!/^\d+$/.test(port) || number < 1 || number > 65_535) throw new Refusal(400, `port: ${port} is none`);
  if (status?.podIP === undefined) throw new Refusal(409, 'the VMI has no address yet');
  return connected(status.podIP, number);
};

const WORDS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  EHOSTUNREACH: 'there is no route to the guest',
};

const connected = (host: string, port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    const fail = (status: number, why: string, error?: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(new Refusal(status, `port ${port} of the guest: ${why}`, error));
    };
    const timer = setTimeout(() => fail(504, `no answer within ${PORT_MS} ms`), PORT_MS);
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(socket);
    });
    // Stays: an error that nobody listens to would end the process.
    socket.on('error', (error) => fail(502, WORDS[errorCode(error) ?? ''] ?? error.message, error));
  });
