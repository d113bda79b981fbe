import type { ClusterConfig } from '../cluster-config/index.ts';
import { hasGate } from '../cluster-config/index.ts';
import type { Cause } from './cause.ts';
import { duplicate, invalid, oneOf, required, when } from './cause.ts';
import { isPort, isPortName } from './formats.ts';
import type { NewerInterface, NewerNetwork, PortRange } from './newer-fields.ts';

const PROTOCOLS = ['TCP', 'UDP'];
const MAX_RANGES = 10;

/** Ports that are forwarded to the guest; only the Pod network forwards. */
export const portCauses = (
  nic: NewerInterface,
  field: string,
  network: NewerNetwork | undefined,
  config: ClusterConfig,
): Cause[] => {
  const { ports = [], portRanges = [] } = nic;
  if (portRanges.length > 0 && !hasGate(config, 'PortRangesSpec'))
    return [...(network?.pod === undefined ? [] : single(ports, field)), needsRanges(field)];
  if (network?.pod === undefined) return [];
  return [...single(ports, field), ...(portRanges.length > 0 ? rangesOf(nic, portRanges, field) : [])];
};

const needsRanges = (field: string): Cause =>
  invalid(`${field}.name`, 'portRanges need the feature gate PortRangesSpec: use ports');

const single = (ports: { name?: string; port: number; protocol?: string }[], field: string): Cause[] =>
  ports.flatMap(({ name = '', port, protocol }, index) => {
    const at = `${field}.ports[${index}]`;
    const earlier = name !== '' && ports.findIndex((other) => other.name === name) < index;
    return [
      ...when(earlier, () => duplicate(`${at}.name`, `"${name}" is the name of an earlier port`)),
      ...when(name !== '' && !isPortName(name), () =>
        invalid(`${at}.name`, `"${name}" is no name: use at most 15 lower-case letters, digits and hyphens`),
      ),
      ...when(!port, () => required(`${at}.port`, 'say which port')),
      ...when(Boolean(port) && !isPort(port), () => invalid(`${at}.port`, `${port} is no port: use 1 to 65535`)),
      ...oneOf(`${at}.protocol`, protocol, ['', ...PROTOCOLS]),
    ];
  });

const rangesOf = ({ masquerade, ports = [] }: NewerInterface, ranges: PortRange[], field: string): Cause[] => [
  ...when(ports.length > 0, () => invalid(`${field}.name`, 'ports and portRanges exclude each other: keep one')),
  ...when(masquerade === undefined, () => invalid(`${field}.name`, 'portRanges are for masquerade only')),
  ...(ranges.length > MAX_RANGES
    ? [invalid(`${field}.portRanges`, `at most ${MAX_RANGES} ranges`)]
    : [
        ...ranges.flatMap((range, index) => oneRange(range, `${field}.portRanges[${index}]`)),
        ...when(overlapping(ranges.filter((range) => oneRange(range, '').length === 0)), () =>
          invalid(`${field}.portRanges`, 'ranges of one protocol overlap'),
        ),
      ]),
];

/** The first fault of a range. */
const oneRange = ({ start, end, protocol = '' }: PortRange, field: string): Cause[] => {
  if (!PROTOCOLS.includes(protocol)) return oneOf(`${field}.protocol`, protocol, PROTOCOLS);
  if (!isPort(start)) return [invalid(`${field}.start`, `${start} is no port: use 1 to 65535`)];
  if (!isPort(end)) return [invalid(`${field}.end`, `${end} is no port: use 1 to 65535`)];
  return when(start > end, () => invalid(`${field}.start`, `${start} lies behind the end, ${end}`));
};

const overlapping = (ranges: PortRange[]): boolean => {
  const sorted = [...ranges].sort((a, b) => a.start - b.start);
  return sorted.some((range, index) =>
    sorted.slice(0, index).some((earlier) => earlier.protocol === range.protocol && range.start <= earlier.end),
  );
};
