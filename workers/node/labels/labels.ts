import type { Node } from '../../../api/kubernetes/types.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { machineTypeLabels } from '../kubernetes/machine-types.ts';
import type { Capabilities } from './capabilities.ts';
import { PROTECTIONS } from './capabilities.ts';

/** Labels of a Node by which launcher Pods find it: KubeVirt's names (its node labeller), and whether KVM boots guests. */
const PREFIX = {
  model: 'cpu-model.node.kubevirt.io/',
  feature: 'cpu-feature.node.kubevirt.io/',
  migration: 'cpu-model-migration.node.kubevirt.io/',
  hostModel: 'host-model-cpu.node.kubevirt.io/',
  hostFeature: 'host-model-required-features.node.kubevirt.io/',
  vendor: 'cpu-vendor.node.kubevirt.io/',
  hyperv: 'hyperv.node.kubevirt.io/',
  timer: 'cpu-timer.node.kubevirt.io/',
  frequency: 'scheduling.node.kubevirt.io/tsc-frequency-',
  machine: 'machine-type.node.kubevirt.io/',
} as const;

const OBSOLETE_HOST_MODEL = 'node-labeller.kubevirt.io/obsolete-host-model';
const KVM = 'kubevirt.io/kvm';
const REALTIME = 'kubevirt.io/realtime';
/** What launchSecurity asks for. */
const PROTECTION = 'kubevirt.io/';

const SINGLE = [KVM, REALTIME, OBSOLETE_HOST_MODEL, ...PROTECTIONS.map((kind) => PROTECTION + kind)];

/** Every label that this worker writes, the heartbeat's aside: one that is not wanted any more is taken away. */
const isOurs = (label: string): boolean =>
  SINGLE.includes(label) || Object.values(PREFIX).some((prefix) => label.startsWith(prefix));

/** CPU models that no guest should have any more, unless the cluster's configuration names others (KubeVirt's list). */
const OBSOLETE = [
  ...['486', 'pentium', 'pentium2', 'pentium3', 'pentiumpro', 'coreduo', 'n270', 'core2duo', 'Conroe'],
  ...['athlon', 'phenom', 'qemu64', 'qemu32', 'kvm64', 'kvm32', 'Opteron_G1', 'Opteron_G2'],
].flatMap((model) => [model, `${model}-v1`]);

/** libvirt's name of an enlightenment, where KubeVirt's is another. */
const HYPERV_NAMES: Record<string, string> = { stimer: 'synictimer' };

/** Which labels a node should have. Pure. */
export const nodeLabels = (
  found: Capabilities,
  config: Pick<ClusterConfig, 'obsoleteCPUModels'>,
  architecture: NodeJS.Architecture = process.arch,
): Record<string, string> => {
  const { models, hostModel, features, hyperv, tsc, kvm, protections, realtime } = found;
  const named = Object.keys(config.obsoleteCPUModels);
  const obsolete = new Set(named.length === 0 ? OBSOLETE : named);
  const current = models.filter((model) => !obsolete.has(model));
  const isHostObsolete = hostModel !== undefined && obsolete.has(hostModel.name);
  return {
    ...machineTypeLabels(architecture),
    ...labels(PREFIX.model, current),
    ...labels(PREFIX.migration, [...current, ...(hostModel === undefined || isHostObsolete ? [] : [hostModel.name])]),
    ...labels(PREFIX.feature, features),
    ...labels(
      PREFIX.hyperv,
      hyperv.map((name) => HYPERV_NAMES[name] ?? name),
    ),
    ...(hostModel === undefined
      ? {}
      : {
          ...labels(PREFIX.hostModel, [hostModel.name]),
          ...labels(PREFIX.vendor, [hostModel.vendor]),
          ...labels(PREFIX.hostFeature, hostModel.required),
        }),
    ...(isHostObsolete ? { [OBSOLETE_HOST_MODEL]: 'true' } : {}),
    ...(tsc === undefined
      ? {}
      : {
          [`${PREFIX.timer}tsc-frequency`]: tsc.frequency,
          [`${PREFIX.timer}tsc-scalable`]: String(tsc.scalable),
          [`${PREFIX.frequency}${tsc.frequency}`]: 'true',
        }),
    ...labels(PROTECTION, protections),
    ...(realtime ? { [REALTIME]: 'true' } : {}),
    [KVM]: String(kvm.usable),
  };
};

/** What a label's name may hold after its prefix; a CPU model or feature that does not fit cannot be selected by. */
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

const labels = (prefix: string, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.filter((name) => NAME.test(name)).map((name) => [`${prefix}${name}`, 'true']));

/** What has to change on a Node's labels; null takes one away. `node`: as it was seen last; absent: not seen yet. */
export const labelChanges = (
  node: Pick<Node, 'metadata'> | undefined,
  wanted: Record<string, string>,
): Record<string, string | null> => {
  const has = node?.metadata?.labels ?? {};
  const stale = Object.keys(has).filter((label) => isOurs(label) && wanted[label] === undefined);
  const changed = Object.entries(wanted).filter(([label, value]) => has[label] !== value);
  return { ...Object.fromEntries(changed), ...Object.fromEntries(stale.map((label) => [label, null])) };
};
