import type { ClusterConfig } from '../cluster-config/index.ts';
import { hasGate } from '../cluster-config/index.ts';
import type { Interface } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { duplicate, invalid, oneOf, repeated, unsupported, when } from './cause.ts';
import { dhcpCauses } from './dhcp.ts';
import { isMac, isPciAddress } from './formats.ts';
import type { NewerInterface, NewerNetwork } from './newer-fields.ts';
import { portCauses } from './ports.ts';

const INTERFACES = 'spec.domain.devices.interfaces';
const BINDINGS = ['bridge', 'masquerade', 'sriov', 'passtBinding', 'binding'] as const;
/** Bindings of old releases, gone since v1.3. */
const GONE = ['slirp', 'passt', 'macvtap'] as const;
const MODELS = ['', 'virtio', 'e1000', 'e1000e', 'igb', 'ne2k_pci', 'pcnet', 'rtl8139'];
const STATES = ['', 'absent', 'down', 'up'];
/** The bridge in the Pod has it. */
const BRIDGE_MAC = '02:00:00:00:00:00';

/** Each interface is bound in one way to one network. */
export const interfaceRules: Rule = ({ spec }, config) => {
  const networks: NewerNetwork[] = spec.networks ?? [];
  const interfaces: NewerInterface[] = spec.domain.devices.interfaces ?? [];
  const main = networks.find(({ pod, multus }) => pod !== undefined || multus?.default === true);
  return [
    ...repeated(interfaces).map((index) =>
      duplicate(`${INTERFACES}[${index}].name`, `network "${interfaces[index]?.name}" has an earlier interface`),
    ),
    ...interfaces.flatMap((nic, index) => {
      const field = `${INTERFACES}[${index}]`;
      const network = networks.findLast(({ name }) => name === nic.name);
      return [
        ...binding(nic, field, network, config),
        ...state(nic, field, main),
        ...values(nic, field),
        ...portCauses(nic, field, network, config),
        ...dhcpCauses(nic, field),
      ];
    }),
  ];
};

/** Bindings that a new VM cannot have any more, told apart from having none; an old one is left alone. */
export const goneBindings: Rule = ({ spec }) =>
  (spec.domain.devices.interfaces ?? []).flatMap((nic, index) =>
    GONE.filter((key) => nic[key] !== undefined).map((key) =>
      invalid(
        `${INTERFACES}[${index}].${key}`,
        `${key} is gone since v1.3: use masquerade, bridge or a binding plug-in`,
      ),
    ),
  );

const binding = (nic: Interface, field: string, network: NewerNetwork | undefined, config: ClusterConfig): Cause[] => {
  const bindings = BINDINGS.filter((key) => nic[key] !== undefined);
  const onPod = network?.pod !== undefined;
  const only = (key: string): Cause =>
    invalid(`${field}.name`, `${key} is for the Pod network only: use bridge or sriov`);
  return [
    ...when(network === undefined, () =>
      invalid(`${field}.name`, `no network is named "${nic.name}": add it to spec.networks, or correct the name`),
    ),
    ...when(bindings.length !== 1, () =>
      invalid(
        field,
        `it has ${bindings.length === 0 ? 'no binding' : `several bindings (${bindings.join(', ')})`}: use masquerade: {}`,
      ),
    ),
    ...when(nic.masquerade !== undefined && network !== undefined && !onPod, () => only('masquerade')),
    ...when(nic.masquerade !== undefined && nic.macAddress === BRIDGE_MAC, () =>
      invalid(`${field}.macAddress`, `${BRIDGE_MAC} is the bridge’s in the Pod: choose another one`),
    ),
    ...when(nic.bridge !== undefined && onPod && !config.permitBridgeInterfaceOnPodNetwork, () =>
      invalid(`${field}.name`, 'the cluster permits no bridge on the Pod network: use masquerade'),
    ),
    ...when(nic.passtBinding !== undefined && !hasGate(config, 'PasstBinding'), () =>
      invalid(`${field}.name`, 'passtBinding needs the feature gate PasstBinding: use masquerade'),
    ),
    ...when(nic.passtBinding !== undefined && network !== undefined && !onPod, () => only('passtBinding')),
  ];
};

const state = (
  { name, state: given = '', bridge, sriov }: Interface,
  field: string,
  main: NewerNetwork | undefined,
): Cause[] => [
  ...oneOf(`${field}.state`, given, STATES),
  ...when(sriov !== undefined && ['up', 'down'].includes(given), () =>
    invalid(`${field}.state`, 'the link of an SR-IOV device is not the guest’s to switch: drop it'),
  ),
  ...when(given === 'absent' && bridge === undefined, () =>
    invalid(`${field}.state`, 'only a bridge can be unplugged by "absent"'),
  ),
  ...when(given === 'absent' && main?.name === name, () =>
    invalid(`${field}.state`, 'the default network cannot be unplugged'),
  ),
];

const values = ({ name, macAddress = '', model, pciAddress = '' }: Interface, field: string): Cause[] => [
  ...when(!/^[A-Za-z0-9_-]+$/.test(name), () =>
    invalid(`${field}.name`, `"${name}" is no name: use letters, digits, hyphens and underscores`),
  ),
  ...oneOf(`${field}.model`, model, MODELS, unsupported),
  ...when(macAddress !== '' && !isMac(macAddress), () =>
    invalid(`${field}.macAddress`, `"${macAddress}" is no MAC address like 02:00:00:aa:bb:cc`),
  ),
  ...when(pciAddress !== '' && !isPciAddress(pciAddress), () =>
    invalid(`${field}.pciAddress`, `"${pciAddress}" is no address like 0000:81:01.0`),
  ),
];
