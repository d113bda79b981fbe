import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import { hasGate } from '../cluster-config/index.ts';
import type { ClusterConfig } from '../cluster-config/index.ts';
import type { Cause, Rule } from './cause.ts';
import { duplicate, invalid, needsGate, required, when } from './cause.ts';
import { isLabel, isSubdomain } from './formats.ts';
import type { NewerNetwork } from './newer-fields.ts';

type Claim = NonNullable<VirtualMachineInstanceSpec['resourceClaims']>[number];
type Device = NonNullable<VirtualMachineInstanceSpec['domain']['devices']['hostDevices']>[number];

const CLAIMS = 'spec.resourceClaims';
const DEVICES = 'spec.domain.devices';

/** Devices by name or by claims of resources (DRA). */
export const claimRules: Rule = ({ spec }, config) => {
  const { gpus = [], hostDevices = [] } = spec.domain.devices;
  const given = spec.resourceClaims ?? [];
  const lists = [
    judged(gpus, `${DEVICES}.gpus`, 'GPUsWithDRA', false, config),
    judged(hostDevices, `${DEVICES}.hostDevices`, 'HostDevicesWithDRA', true, config),
  ];
  const used = lists.flatMap(({ requests }) => requests);
  return [
    ...given.flatMap((claim, index) => oneClaim(claim, `${CLAIMS}[${index}]`, given.slice(0, index))),
    ...lists.flatMap(({ causes }) => causes),
    ...shared([...used, ...ofNetworks(spec.networks ?? [], config)]),
    ...when(!used.every(({ claimName }) => given.some(({ name }) => name === claimName)), () =>
      invalid(CLAIMS, 'devices use claims that are not listed here: add them'),
    ),
  ];
};

const oneClaim = (claim: Claim, field: string, earlier: Claim[]): Cause[] => {
  const { name, resourceClaimName, resourceClaimTemplateName } = claim;
  const taken = earlier.some((other) => other.name === name);
  const sources = [resourceClaimName, resourceClaimTemplateName].filter((source) => source !== undefined);
  const object = (key: string, value: string | undefined): Cause[] =>
    when(value !== undefined && !isSubdomain(value), () =>
      invalid(`${field}.${key}`, `"${value}" is no name of an object`),
    );
  return [
    ...when(!name, () => required(`${field}.name`, 'the claim needs a name')),
    ...when(Boolean(name) && taken, () => duplicate(`${field}.name`, `"${name}" is the name of an earlier claim`)),
    ...when(Boolean(name) && !taken && !isLabel(name), () =>
      invalid(`${field}.name`, `"${name}" is no name: use at most 63 lower-case letters, digits and hyphens`),
    ),
    ...when(sources.length !== 1, () =>
      invalid(field, 'it is resourceClaimName, or resourceClaimTemplateName: set exactly one'),
    ),
    ...object('resourceClaimName', resourceClaimName),
    ...object('resourceClaimTemplateName', resourceClaimTemplateName),
  ];
};

interface Request {
  claimName: string;
  requestName: string;
  field: string;
}

const asksClaim = ({ claimName, requestName }: Device): boolean => (claimName ?? requestName) !== undefined;

const judged = (
  devices: Device[],
  field: string,
  gate: string,
  mixed: boolean,
  config: ClusterConfig,
): { causes: Cause[]; requests: Request[] } => {
  const requests = devices.flatMap((device, index) => {
    const { claimName = '', requestName = '' } = device;
    return !device.deviceName && asksClaim(device) ? [{ claimName, requestName, field: `${field}[${index}]` }] : [];
  });
  const named = devices.filter((device) => device.deviceName || !asksClaim(device));
  if (!mixed && requests.length > 0 && named.length > 0)
    return { causes: [invalid(field, 'devices by name and by claim exclude each other: keep one kind')], requests: [] };
  const causes = named.flatMap((device) => byName(device, field));
  if (requests.length > 0 && !hasGate(config, gate))
    return { causes: [...causes, ...needsGate(field, gate, config)], requests: [] };
  return {
    causes: [...causes, ...requests.flatMap(complete)],
    requests: requests.filter((request) => complete(request).length === 0),
  };
};

const byName = (device: Device, field: string): Cause[] => [
  ...when(!device.deviceName, () => required(field, `"${device.name}" says no device: set deviceName`)),
  ...when(Boolean(device.deviceName) && asksClaim(device), () =>
    invalid(field, `"${device.name}" has a deviceName and a claim: keep one`),
  ),
];

const complete = ({ claimName, requestName, field }: Request): Cause[] => [
  ...when(claimName === '', () => required(`${field}.claimName`, 'name a claim of spec.resourceClaims')),
  ...when(requestName === '', () => required(`${field}.requestName`, 'name a request of the claim')),
];

const ofNetworks = (networks: NewerNetwork[], config: ClusterConfig): Request[] =>
  hasGate(config, 'NetworkDevicesWithDRA')
    ? networks.flatMap(({ resourceClaim }, index) => {
        const { claimName, requestName } = resourceClaim ?? {};
        return claimName && requestName ? [{ claimName, requestName, field: `spec.networks[${index}]` }] : [];
      })
    : [];

/** A request of a claim is one device. */
const shared = (requests: Request[]): Cause[] =>
  requests.flatMap(({ claimName, requestName, field }, index) => {
    const first = requests.findIndex((other) => other.claimName === claimName && other.requestName === requestName);
    return when(first < index, () => duplicate(field, `request ${claimName}/${requestName} has an earlier device`));
  });
