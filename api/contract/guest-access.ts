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

/** Protocol of a stream, in the header Upgrade: from the answer 101 on the connection carries the stream's bytes and nothing else. */
export const GUEST_STREAM_PROTOCOL = 'virtflow-guest-stream';

/** The launcher Pod's name, besides what a GuestRef tells. */
export type GuestPod = GuestRef & { pod: string };

/** Path and query of a call or a stream at the node worker's listener. Answers of 400 and more carry `{ message }`. */
export const guestPath = (
  { namespace, name, vmiUid, pod, podUid }: GuestPod,
  what: GuestCall | GuestStream,
  params: Readonly<Record<string, string>> = {},
): string => `/${what}?${new URLSearchParams({ ...params, namespace, name, vmiUid, pod, podUid }).toString()}`;

/** The guest that is meant: a node worker refuses a VMI that its Pod does not run (any more). */
export interface GuestRef {
  namespace: string;
  name: string;
  vmiUid: string;
  podUid: string;
  node: string;
}
