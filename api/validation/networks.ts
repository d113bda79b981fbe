import type { Interface, Network } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { duplicate, invalid, repeated, required, unsupported, when } from './cause.ts';

const BINDINGS = ['bridge', 'masquerade', 'sriov', 'slirp', 'macvtap', 'passt', 'passtBinding', 'binding'] as const;
const INTERFACES = 'spec.domain.devices.interfaces';
const MODELS = ['virtio', 'e1000', 'e1000e', 'igb', 'ne2k_pci', 'pcnet', 'rtl8139'];

/** Each interface stands for one network and each network for one interface; one of them at most is the Pod's own. */
export const networkRules: Rule = ({ spec }, config) => {
  const networks = spec.networks ?? [];
  const interfaces = spec.domain.devices.interfaces ?? [];
  const pods = networks.filter(({ pod }) => pod !== undefined);
  const unnamed =
    interfaces.length === 0 && networks.length === 0 && spec.domain.devices.autoattachPodInterface !== false;
  return [
    ...when(unnamed, () =>
      unsupported(
        INTERFACES,
        `the cluster's default binding ${config.defaultNetworkInterface} is not supported yet: set ` +
          'spec.configuration.network.defaultNetworkInterface of the KubeVirt object to masquerade',
      ),
    ),
    ...when(pods.length > 1, () => duplicate('spec.interfaces', 'several networks are the Pod network: keep one')),
    ...repeated(networks).map((index) =>
      duplicate(`spec.networks[${index}].name`, `"${networks[index]?.name}" is the name of an earlier network`),
    ),
    ...repeated(interfaces).map((index) =>
      duplicate(`${INTERFACES}[${index}].name`, `network "${interfaces[index]?.name}" has an earlier interface`),
    ),
    ...networks.flatMap((network, index) => oneNetwork(network, `spec.networks[${index}]`, interfaces)),
    ...interfaces.flatMap((nic, index) => oneInterface(nic, `${INTERFACES}[${index}]`, networks)),
  ];
};

const oneNetwork = (network: Network, field: string, interfaces: Interface[]): Cause[] => {
  const types = Object.keys(network).filter((key) => key !== 'name');
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

const oneInterface = (nic: Interface, field: string, networks: Network[]): Cause[] => {
  const bindings = BINDINGS.filter((binding) => nic[binding] !== undefined);
  const { macAddress, model } = nic;
  return [
    ...when(!networks.some(({ name }) => name === nic.name), () =>
      invalid(`${field}.name`, `no network is named "${nic.name}": add it to spec.networks, or correct the name`),
    ),
    ...when(bindings.length !== 1, () =>
      invalid(
        field,
        `it has ${bindings.length === 0 ? 'no binding' : `several bindings (${bindings.join(', ')})`}: use masquerade: {}`,
      ),
    ),
    ...when(macAddress !== undefined && macAddress !== '' && !isMac(macAddress), () =>
      invalid(`${field}.macAddress`, `"${macAddress}" is no MAC address like 02:00:00:aa:bb:cc`),
    ),
    ...when(model !== undefined && model !== '' && !MODELS.includes(model), () =>
      unsupported(`${field}.model`, `"${model}" is unknown: use ${MODELS.join(', ')}`),
    ),
  ];
};

const isMac = (text: string): boolean => /^[0-9a-f]{2}([:-])[0-9a-f]{2}(\1[0-9a-f]{2}){4}$/i.test(text);
