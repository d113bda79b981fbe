import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import type { PeerCredentials } from '../../../api/contract/certificates.ts';
import { nodeOfPeer } from '../../../api/contract/certificates.ts';
import { failure } from '../../failures.ts';
import { encodeFrame, readFrame } from './frames.ts';
import type { Header } from './messages.ts';
import { greeting, MAX_HEADER_BYTES } from './messages.ts';
import type { SourceSession } from './port.ts';
import { peerTrouble } from './words.ts';

/** Connection, handshake and the other side's answer together. */
export const DIAL_MS = 5_000;
/** A host that vanished is noticed after this and ten probes, a second apart (libuv's figures). */
export const KEEPALIVE_MS = 10_000;

/**
 * Connects to a node's worker for a purpose; resolves once it is let in: from then on the socket carries what comes next, through a window if the other side
 * knows windows.
 * @throws PeerUnreachable that says why
 */
export const dialPeer = async (
  credentials: Pick<PeerCredentials, 'current' | 'detail'>,
  { node, address, port }: SourceSession['target'],
  purpose: Header,
  timeoutMs = DIAL_MS,
): Promise<{ socket: TLSSocket; window: boolean }> => {
  const own = credentials.current();
  const peer = `the worker of node ${node} at ${address}:${port}`;
  if (own === undefined) {
    throw failure('PeerUnreachable', `${peer} cannot be spoken to: this node's worker has ${credentials.detail()}`);
  }
  // Node takes allowHalfOpen here too; its types do not know.
  const options: ConnectionOptions & { allowHalfOpen: boolean } = {
    host: address,
    port,
    ...own,
    minVersion: 'TLSv1.3',
    allowHalfOpen: true,
    // By node, not by address: who the peer is stands in its certificate.
    checkServerIdentity: (_, { subjectaltname }) => {
      const shown = nodeOfPeer(subjectaltname);
      return shown === node ? undefined : new Error(`it shows the certificate of ${shown ?? 'no node'}`);
    },
  };
  const socket = connect(options);
  // Whoever uses it looks at its end, not at its errors; one that nobody listens to would end the process.
  socket.on('error', () => undefined);
  const timer = setTimeout(() => {
    socket.destroy(Object.assign(new Error(`no answer within ${timeoutMs} ms`), { code: 'ETIMEDOUT' }));
  }, timeoutMs);
  try {
    socket.setNoDelay(true).setKeepAlive(true, KEEPALIVE_MS);
    await secured(socket);
    socket.write(encodeFrame(purpose));
    const answer = greeting.parse(await readFrame(socket, { maxBytes: MAX_HEADER_BYTES, timeoutMs }));
    if (!answer.accepted) throw new Error(answer.reason);
    return { socket, window: answer.window === true };
  } catch (error) {
    socket.destroy();
    throw failure('PeerUnreachable', `${peer}: ${peerTrouble(error)}`, error);
  } finally {
    clearTimeout(timer);
  }
};

const secured = (socket: TLSSocket): Promise<void> =>
  new Promise((resolve, reject) => {
    const closed = (): void => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' }));
    socket.once('error', reject).once('close', closed);
    socket.once('secureConnect', () => {
      socket.off('error', reject).off('close', closed);
      resolve();
    });
  });
