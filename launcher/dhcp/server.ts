import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import type { Logger } from 'pino';
import { answerTo } from './answer.ts';
import { MessageType, parseRequest, renderReply } from './packet.ts';
import type { GuestLease } from './lease.ts';

export const SERVER_PORT = 67;
const CLIENT_PORT = 68;
const BROADCAST = '255.255.255.255';

/** Serves one lease in the Pod's network namespace, so that the guest's address lives as long as the Pod, whoever else is away. */
export class DhcpServer {
  readonly #log: Logger;
  #lease: () => GuestLease | undefined = () => undefined;
  #socket: Socket | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Serves what `lease` gives at the time of each request; undefined: nothing. */
  serve(lease: () => GuestLease | undefined): void {
    this.#lease = lease;
    this.#socket ??= this.#listen();
  }

  close(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  #listen(): Socket {
    const socket = createSocket({ type: 'udp4', reuseAddr: true });
    socket.on('error', (error) => this.#log.error({ err: error }, 'DHCP: the guest gets no address'));
    socket.on('message', (bytes) => this.#answer(socket, bytes));
    socket.bind(SERVER_PORT, () => socket.setBroadcast(true));
    return socket;
  }

  #answer(socket: Socket, bytes: Buffer): void {
    const request = parseRequest(bytes);
    const lease = request && this.#lease();
    if (request === undefined || lease === undefined) return;
    const messageType = answerTo(request, lease);
    if (messageType === undefined) return;
    // A client that renews has an address and is answered there; all others hear broadcasts only.
    const renews = request.clientAddress === lease.address && messageType === MessageType.ack;
    const target = renews ? request.clientAddress : BROADCAST;
    socket.send(renderReply(request, messageType, lease), CLIENT_PORT, target, (error) => {
      if (error) this.#log.warn({ err: error }, 'DHCP answer not sent');
    });
    this.#log.info({ messageType, mac: request.mac, address: lease.address }, 'DHCP answer');
  }
}
