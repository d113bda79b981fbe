import type { ClusterConfig } from '../cluster-config/index.ts';
import type { Interface } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { duplicate, invalid, needsGate, notFound, repeated, required, when } from './cause.ts';
import type { NewerNetwork } from './newer-fields.ts';

const INTERFACES = 'spec.domain.devices.interfaces';
const TYPES = ['pod', 'multus', 'resourceClaim'] as const;

/** Each network stands for one interface; one of them at most is the Pod's own. */
export const networkRules: Rule = ({ spec }, config) => {
  const networks: NewerNetwork[] = spec.networks ?? [];
  const interfaces = spec.domain.devices.interfaces ?? [];
  const pods = networks.filter(({ pod }) => pod !== undefined);
  const defaults = networks.filter(({ multus }) => multus?.default === true);
  const nameless = networks.findIndex(({ multus }) => multus !== undefined && !multus.networkName);
  return [
    ...when(pods.length > 1, () => duplicate('spec.interfaces', 'several networks are the Pod network: keep one')),
    ...when(defaults.length > 1, () =>
      invalid('spec.networks', 'several networks of Multus are the default: keep one'),
    ),
    ...when(pods.length > 0 && defaults.length > 0, () =>
      invalid('spec.networks', 'a default network of Multus takes the place of the Pod network: keep one of them'),
    ),
    ...when(nameless >= 0, () =>
      required(`spec.networks[${nameless}]`, 'name the network attachment in multus.networkName'),
    ),
    ...repeated(networks).map((index) =>
      duplicate(`spec.networks[${index}].name`, `"${networks[index]?.name}" is the name of an earlier network`),
    ),
    ...networks.flatMap((network, index) => oneNetwork(network, `spec.networks[${index}]`, interfaces)),
    ...claims(networks, interfaces, spec.resourceClaims ?? [], config),
  ];
};

/** Who names neither interface nor network gets the Pod's by the cluster's default, unless that binding is gone. */
export const defaultNetwork: Rule = ({ spec }, config) => {
  const { autoattachPodInterface, interfaces = [] } = spec.domain.devices;
  const none = interfaces.length === 0 && (spec.networks ?? []).length === 0;
  return when(none && autoattachPodInterface !== false, () =>
    required(
      'spec.networks[0].name',
      `the cluster's default binding ${config.defaultNetworkInterface} is gone: name an interface, or set ` +
        'spec.configuration.network.defaultNetworkInterface of the KubeVirt object to masquerade',
    ),
  );
};

const oneNetwork = (network: NewerNetwork, field: string, interfaces: Interface[]): Cause[] => {
  const types = TYPES.filter((key) => network[key] !== undefined);
  return [
    ...when(types.length !== 1, () =>
      required(
        field,
        types.length === 0
          ? 'say what network it is, for example pod: {}'
          : `it has several types (${types.join(', ')}): keep one`,
      ),
    ),
    ...when(!interfaces.some(({ name }) => name === network.name), () =>
      required(
        `${field}.name`,
        `no interface is named "${network.name}": add it to ${INTERFACES}, or drop the network`,
      ),
    ),
  ];
};

/** Networks by claims of resources (DRA). */
const claims = (
  networks: NewerNetwork[],
  interfaces: Interface[],
  resourceClaims: { name: string }[],
  config: ClusterConfig,
): Cause[] => {
  if (!networks.some(({ resourceClaim }) => resourceClaim !== undefined)) return [];
  const closed = needsGate('spec.networks', 'NetworkDevicesWithDRA', config);
  if (closed.length > 0) return closed;
  if (networks.some(({ multus }) => multus !== undefined))
    return [invalid('spec.networks', 'networks of Multus and of claims exclude each other: keep one kind')];
  return networks.flatMap(({ name, resourceClaim }, index) => {
    if (resourceClaim === undefined) return [];
    const field = `spec.networks[${index}]`;
    const { claimName = '', requestName = '' } = resourceClaim;
    const nic = interfaces.find((given) => given.name === name);
    const same = (other: NewerNetwork): boolean =>
      other.resourceClaim?.claimName === claimName && other.resourceClaim.requestName === requestName;
    const complete = claimName !== '' && requestName !== '';
    return [
      ...when(nic !== undefined && nic.sriov === undefined && nic.binding === undefined, () =>
        invalid(INTERFACES, `network "${name}" of a claim needs an interface with sriov or a binding plug-in`),
      ),
      ...when(claimName === '', () =>
        required(`${field}.resourceClaim.claimName`, 'name a claim of spec.resourceClaims'),
      ),
      ...when(requestName === '', () => required(`${field}.resourceClaim.requestName`, 'name a request of the claim')),
      ...when(complete && !resourceClaims.some((claim) => claim.name === claimName), () =>
        notFound(`${field}.resourceClaim.claimName`, `no claim is named "${claimName}": add it to spec.resourceClaims`),
      ),
      ...when(complete && networks.findIndex(same) < index, () =>
        duplicate(field, `request ${claimName}/${requestName} has an earlier network`),
      ),
    ];
  });
};
