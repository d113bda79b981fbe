import type { Duplex } from 'node:stream';
import type { GuestCall, GuestRef, GuestStream } from '../../../api/contract/guest-access.ts';

/** What a guest answered: `body` (JSON), `bytes` with their type, or nothing. */
export interface GuestAnswer {
  /** 200. */
  status: number;
  body?: unknown;
  bytes?: Buffer;
  contentType?: string;
}

/** The way from the subresource API to a running guest, through the worker of its node. */
export interface GuestAccess {
  /**
   * One call, one answer. `body`: of freeze, `{ unfreezeTimeout }` as KubeVirt has it. `query`: of vncScreenshot, `moveCursor: 'true'`.
   * @throws GuestAccessError
   */
  call(guest: GuestRef, call: GuestCall, body?: unknown, query?: Record<string, string>): Promise<GuestAnswer>;
  /**
   * A stream of bytes to the guest; resolves once it is open. `params`: of portforward, `port` and `protocol` (tcp); of console and vnc,
   * `preserveSession: 'true'` is refused with 409 instead of displacing whoever is connected. The stream ends in order when the guest ends, moves to
   * another node, or somebody else connects; it breaks (closed without an end) when its node is lost. Of portforward each direction ends by itself. It
   * is for the caller to destroy it.
   * @throws GuestAccessError
   */
  open(guest: GuestRef, stream: GuestStream, params: Record<string, string>): Promise<Duplex>;
}

/** Why a guest was not reached, or what it refused, in the words and code (HTTP) that a user of the subresource API gets. */
export class GuestAccessError extends Error {
  override readonly name = 'GuestAccessError';
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}
