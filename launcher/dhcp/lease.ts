import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { BRIDGE_DEVICE } from '../../api/launcher/paths.ts';
import type { Lease } from './packet.ts';

/** The one lease, and the hardware addresses of the guest that it is for. */
export interface GuestLease extends Lease {
  readonly macs: readonly string[];
}

/** Name servers and search domains of a resolv.conf. A server on the loopback is of no use to the guest. */
export function parseResolvConf(text: string): Pick<Lease, 'dnsServers' | 'searchDomains'> {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const values = (keyword: string): string[] =>
    lines.filter(([first]) => first === keyword).flatMap((line) => line.slice(1));
  return {
    dnsServers: values('nameserver').filter((server) => /^\d+(\.\d+){3}$/.test(server) && !server.startsWith('127.')),
    searchDomains: [...values('search'), ...values('domain')],
  };
}

/** Hardware addresses and MTU of the interfaces in a domain's XML. */
export function interfacesOf(xml: string): { macs: string[]; mtu?: number } {
  const interfaces = [...xml.matchAll(/<interface [^]*?<\/interface>/g)].map(([text]) => text);
  const macs = interfaces.flatMap((text) => /<mac address='([^']+)'/.exec(text)?.[1]?.toLowerCase() ?? []);
  const mtu = interfaces.map((text) => /<mtu size='(\d+)'/.exec(text)?.[1]).find((size) => size !== undefined);
  return { macs, ...(mtu === undefined ? {} : { mtu: Number(mtu) }) };
}

/** The guest's address is the one after its gateway's, as the node worker set up the translation. */
export function guestAddress(gateway: string): string {
  const value = gateway.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0) + 1;
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join('.');
}

/**
 * What the guest is told, from what the node worker has set up in the Pod's network; undefined: there is no masquerade. To be read at a request: Node
 * lists a bridge only while the guest is plugged in.
 */
export function readLease(domainXml: string, hostname: string | undefined): GuestLease | undefined {
  const bridge = networkInterfaces()[BRIDGE_DEVICE]?.find(({ family }) => family === 'IPv4');
  if (bridge === undefined) return undefined;
  const { macs, mtu } = interfacesOf(domainXml);
  return {
    macs,
    address: guestAddress(bridge.address),
    prefixLength: Number(bridge.cidr?.split('/')[1] ?? 24),
    router: bridge.address,
    ...parseResolvConf(readFileSync('/etc/resolv.conf', 'utf8')),
    ...(mtu === undefined ? {} : { mtu }),
    ...(hostname === undefined ? {} : { hostname }),
  };
}
