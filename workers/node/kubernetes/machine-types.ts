/**
 * Machine types of the QEMU in the launcher's image (7.2, `qemu-system-* -machine help`). Launcher Pods select nodes by them. All nodes run the same
 * image, so every node has all of them.
 */
const PC_VERSIONS = [
  '2.4', '2.5', '2.6', '2.7', '2.8', '2.9', '2.10', '2.11', '2.12', '3.0', '3.1', '4.0', '4.1', '4.2', '5.0', '5.1',
  '5.2', '6.0', '6.1', '6.2', '7.0', '7.1', '7.2',
]; // prettier-ignore

const versions = (...names: string[]): string[] =>
  names.flatMap((name) => PC_VERSIONS.map((version) => `${name}-${version}`));

const MACHINE_TYPES: Partial<Record<NodeJS.Architecture, string[]>> = {
  x64: ['q35', 'pc', ...versions('pc-q35', 'pc-i440fx')],
  arm64: ['virt', ...versions('virt')],
};

export const MACHINE_TYPE_LABEL = 'machine-type.node.kubevirt.io/';

/** Labels that say which machine types guests can have on a node of this architecture. */
export const machineTypeLabels = (architecture: NodeJS.Architecture): Record<string, string> =>
  Object.fromEntries((MACHINE_TYPES[architecture] ?? []).map((type) => [`${MACHINE_TYPE_LABEL}${type}`, 'true']));
