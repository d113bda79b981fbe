import { z } from 'zod';

/** Formats of names and addresses, as Kubernetes has them. */

const LABEL_MAX = 63;
const SUBDOMAIN_MAX = 253;
const PORT_NAME_MAX = 15;

/** A lower-case RFC 1123 label, such as names of volumes, containers and hosts are. */
export const isLabel = (name: string): boolean =>
  name.length <= LABEL_MAX && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name);

/** Labels joined by dots: names of most objects. */
export const isSubdomain = (name: string): boolean =>
  name.length <= SUBDOMAIN_MAX && name.split('.').every((part) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(part));

/** The key of a label: a name, or a domain, a slash and a name. */
export const isLabelKey = (key: string): boolean => {
  const [name = '', domain, ...rest] = key.split('/').reverse();
  return isLabelText(name) && rest.length === 0 && (domain === undefined || isSubdomain(domain));
};

/** The value of a label; it may be empty. */
export const isLabelValue = (value: string): boolean => value === '' || isLabelText(value);

const isLabelText = (text: string): boolean =>
  text.length <= LABEL_MAX && /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text);

/** An IANA service name. */
export const isPortName = (name: string): boolean =>
  name.length <= PORT_NAME_MAX && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && /[a-z]/.test(name);

export const isPort = (port: number): boolean => port > 0 && port < 65536;

/** Six octets, by colons, hyphens, or in fours by dots. */
export const isMac = (text: string): boolean =>
  /^[0-9a-f]{2}([:-])[0-9a-f]{2}(\1[0-9a-f]{2}){4}$/i.test(text) || /^[0-9a-f]{4}(\.[0-9a-f]{4}){2}$/i.test(text);

/** Domain, bus, slot and function: 0000:81:01.0. */
export const isPciAddress = (text: string): boolean => /^[\da-f]{4}:[\da-f]{2}:[\da-f]{2}\.[0-7]$/i.test(text);

export const isIPv4 = (text: string): boolean => z.ipv4().safeParse(text).success;
export const isIP = (text: string): boolean => isIPv4(text) || z.ipv6().safeParse(text).success;

/** Absolute, no relative parts, not the root itself; one slash at the end is taken. */
export const isFilePath = (path: string): boolean =>
  path.startsWith('/') &&
  path
    .replace(/(?<=.)\/$/, '')
    .slice(1)
    .split('/')
    .every((part) => !['', '.', '..'].includes(part));
