import type { Interface } from '../kubevirt/types.ts';
import type { Cause } from './cause.ts';
import { invalid, when } from './cause.ts';
import { isIPv4 } from './formats.ts';

/** Options that DHCP leaves to sites (RFC 3942). */
const PRIVATE = { first: 224, last: 254 };

/** What the guest is told by DHCP. */
export const dhcpCauses = ({ dhcpOptions, name }: Interface, field: string): Cause[] => {
  const { ntpServers = [], privateOptions = [] } = dhcpOptions ?? {};
  const options = privateOptions.map(({ option }) => option);
  return [
    ...when(new Set(options).size < options.length, () =>
      invalid('spec', `interface "${name}" sets a private DHCP option twice`),
    ),
    ...options.flatMap((option) =>
      when(!(option >= PRIVATE.first && option <= PRIVATE.last), () =>
        invalid(
          'spec',
          `interface "${name}" sets DHCP option ${option}: private ones are ${PRIVATE.first} to ${PRIVATE.last}`,
        ),
      ),
    ),
    ...ntpServers.flatMap((server, index) =>
      when(!isIPv4(server), () =>
        invalid(`${field}.dhcpOptions.ntpServers[${index}]`, `"${server}" is no IPv4 address`),
      ),
    ),
  ];
};
