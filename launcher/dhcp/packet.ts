/** DHCP messages (RFC 2131, options of RFC 2132, 3397, 3442), as far as a server with a single lease needs them. Pure. */

export interface DhcpRequest {
  readonly transaction: number;
  readonly messageType: number;
  readonly broadcast: boolean;
  readonly clientAddress: string;
  /** Hardware address, lower case with colons. */
  readonly mac: string;
  /** Server that the client has chosen, if it says so. */
  readonly serverId?: string;
  /** Address that the client would like. */
  readonly requestedAddress?: string;
}

/** What the guest is told. Addresses are dotted IPv4. */
export interface Lease {
  readonly address: string;
  readonly prefixLength: number;
  readonly router: string;
  readonly dnsServers: readonly string[];
  readonly searchDomains: readonly string[];
  readonly mtu?: number;
  readonly hostname?: string;
}

export const MessageType = {
  discover: 1,
  offer: 2,
  request: 3,
  decline: 4,
  ack: 5,
  nak: 6,
  release: 7,
  inform: 8,
} as const;

const Option = {
  subnetMask: 1,
  router: 3,
  dnsServers: 6,
  hostname: 12,
  domainName: 15,
  mtu: 26,
  requestedAddress: 50,
  leaseTime: 51,
  messageType: 53,
  serverId: 54,
  domainSearch: 119,
  end: 255,
} as const;

const HEADER_BYTES = 236;
const COOKIE = Buffer.from([99, 130, 83, 99]);
const BOOT_REQUEST = 1;
const BOOT_REPLY = 2;
const ETHERNET = 1;
const MAC_BYTES = 6;
const BROADCAST_FLAG = 0x8000;
/** The lease never changes as long as the Pod lives. Clients renew at half of it: once a day is no load. */
const LEASE_SECONDS = 2 * 86_400;
/** Smallest message that every client takes (RFC 2131, 2). */
const MINIMUM_BYTES = 300;
const MAX_OPTION_BYTES = 255;

/** The request in a datagram, undefined when it is none that a server answers. */
export function parseRequest(bytes: Buffer): DhcpRequest | undefined {
  if (bytes.length < HEADER_BYTES + COOKIE.length || bytes[0] !== BOOT_REQUEST) return undefined;
  if (bytes[1] !== ETHERNET || bytes[2] !== MAC_BYTES) return undefined;
  if (!bytes.subarray(HEADER_BYTES, HEADER_BYTES + COOKIE.length).equals(COOKIE)) return undefined;
  const options = parseOptions(bytes.subarray(HEADER_BYTES + COOKIE.length));
  const messageType = options.get(Option.messageType);
  if (messageType?.length !== 1) return undefined;
  const serverId = addressOption(options.get(Option.serverId));
  const requestedAddress = addressOption(options.get(Option.requestedAddress));
  return {
    transaction: bytes.readUInt32BE(4),
    messageType: messageType[0] ?? 0,
    broadcast: (bytes.readUInt16BE(10) & BROADCAST_FLAG) !== 0,
    clientAddress: dotted(bytes.subarray(12, 16)),
    mac: bytes
      .subarray(28, 28 + MAC_BYTES)
      .toString('hex')
      .replace(/..(?!$)/g, '$&:'),
    ...(serverId === undefined ? {} : { serverId }),
    ...(requestedAddress === undefined ? {} : { requestedAddress }),
  };
}

/** An OFFER or ACK with everything the guest needs, or a NAK with nothing. */
export function renderReply(request: DhcpRequest, messageType: number, lease: Lease): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = BOOT_REPLY;
  header[1] = ETHERNET;
  header[2] = MAC_BYTES;
  header.writeUInt32BE(request.transaction, 4);
  header.writeUInt16BE(request.broadcast ? BROADCAST_FLAG : 0, 10);
  const granted = messageType !== MessageType.nak;
  if (granted) {
    octets(request.clientAddress).copy(header, 12);
    octets(lease.address).copy(header, 16);
  }
  octets(lease.router).copy(header, 20);
  Buffer.from(request.mac.replaceAll(':', ''), 'hex').copy(header, 28);
  const options: Buffer[] = [
    option(Option.messageType, Buffer.from([messageType])),
    option(Option.serverId, octets(lease.router)),
    ...(granted ? leaseOptions(lease) : []),
    Buffer.from([Option.end]),
  ];
  const message = Buffer.concat([header, COOKIE, ...options]);
  return Buffer.concat([message, Buffer.alloc(Math.max(0, MINIMUM_BYTES - message.length))]);
}

function leaseOptions(lease: Lease): Buffer[] {
  const seconds = Buffer.alloc(4);
  seconds.writeUInt32BE(LEASE_SECONDS);
  const [domain] = lease.searchDomains;
  const search = encodeDomains(lease.searchDomains);
  return [
    option(Option.leaseTime, seconds),
    option(Option.subnetMask, netmask(lease.prefixLength)),
    option(Option.router, octets(lease.router)),
    ...(lease.dnsServers.length > 0 ? [option(Option.dnsServers, Buffer.concat(lease.dnsServers.map(octets)))] : []),
    ...(lease.hostname === undefined ? [] : [option(Option.hostname, Buffer.from(lease.hostname, 'ascii'))]),
    ...(domain === undefined ? [] : [option(Option.domainName, Buffer.from(domain, 'ascii'))]),
    ...(search.length > 0 ? [option(Option.domainSearch, search)] : []),
    ...(lease.mtu === undefined ? [] : [option(Option.mtu, Buffer.from([lease.mtu >> 8, lease.mtu & 0xff]))]),
  ];
}

const option = (code: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([code, value.length]), value.subarray(0, MAX_OPTION_BYTES)]);

/** Search list without compression; domains that do not fit into one option are left out. */
function encodeDomains(domains: readonly string[]): Buffer {
  let encoded = Buffer.alloc(0);
  for (const domain of domains) {
    const labels = domain.split('.').filter((label) => label !== '');
    const bytes = labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'ascii')]));
    const next = Buffer.concat([encoded, ...bytes, Buffer.from([0])]);
    if (next.length > MAX_OPTION_BYTES) break;
    encoded = next;
  }
  return encoded;
}

function parseOptions(bytes: Buffer): Map<number, Buffer> {
  const options = new Map<number, Buffer>();
  let offset = 0;
  while (offset < bytes.length) {
    const code = bytes[offset] ?? Option.end;
    if (code === Option.end) break;
    if (code === 0) {
      offset += 1;
      continue;
    }
    const length = bytes[offset + 1];
    if (length === undefined || offset + 2 + length > bytes.length) break;
    options.set(code, bytes.subarray(offset + 2, offset + 2 + length));
    offset += 2 + length;
  }
  return options;
}

const addressOption = (value: Buffer | undefined): string | undefined =>
  value?.length === 4 ? dotted(value) : undefined;

const dotted = (bytes: Buffer): string => [...bytes].join('.');
const octets = (address: string): Buffer => Buffer.from(address.split('.').map(Number));

function netmask(prefixLength: number): Buffer {
  const mask = Buffer.alloc(4);
  mask.writeUInt32BE(prefixLength === 0 ? 0 : (0xffffffff << (32 - prefixLength)) >>> 0);
  return mask;
}
