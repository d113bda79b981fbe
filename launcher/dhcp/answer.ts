import { MessageType } from './packet.ts';
import type { GuestLease } from './lease.ts';
import type { DhcpRequest } from './packet.ts';

const ANY = '0.0.0.0';

/** Which kind of message answers a request; undefined: none. The one lease belongs to the guest's interface, nobody else is served. */
export function answerTo(request: DhcpRequest, lease: GuestLease): number | undefined {
  if (!lease.macs.includes(request.mac)) return undefined;
  switch (request.messageType) {
    case MessageType.discover:
      return MessageType.offer;
    case MessageType.request: {
      if (request.serverId !== undefined && request.serverId !== lease.router) return undefined;
      const wanted = request.requestedAddress ?? request.clientAddress;
      return wanted === lease.address || wanted === ANY ? MessageType.ack : MessageType.nak;
    }
    case MessageType.inform:
      return MessageType.ack;
    default:
      return undefined;
  }
}
