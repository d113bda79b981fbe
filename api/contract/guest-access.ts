/**
 * What the subresource API asks of a running guest, between controller worker (caller) and the node worker of the VMI's node (mutual TLS, JSON over
 * HTTPS; streams over WebSocket). Objects and Temporal are not in that path: it works while Temporal is down.
 */

/** Port of the node worker's listener for guest access, on the node's own address. */
export const GUEST_ACCESS_PORT = 9811;

/** Calls with one answer. `GET`s change nothing. */
export const GUEST_CALLS = {
  pause: 'PUT',
  unpause: 'PUT',
  reset: 'PUT',
  softreboot: 'PUT',
  freeze: 'PUT',
  unfreeze: 'PUT',
  guestosinfo: 'GET',
  userlist: 'GET',
  filesystemlist: 'GET',
  vncScreenshot: 'GET',
} as const;
export type GuestCall = keyof typeof GUEST_CALLS;

/** Duplex byte streams. `portforward` goes to a port of the guest's Pod address. */
export const GUEST_STREAMS = ['console', 'vnc', 'portforward'] as const;
export type GuestStream = (typeof GUEST_STREAMS)[number];

/** The guest that is meant: a node worker refuses a VMI that its Pod does not run (any more). */
export interface GuestRef {
  namespace: string;
  name: string;
  vmiUid: string;
  podUid: string;
  node: string;
}
