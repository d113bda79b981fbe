import type { Obstacle, Rule } from './obstacle.ts';

/** Labels by which a node tells which CPU models it has, and which one is its own (KubeVirt's node labels). */
const CPU_MODEL = 'cpu-model.node.kubevirt.io/';
const HOST_MODEL = 'host-model-cpu.node.kubevirt.io/';

const obstacle = (reason: Obstacle['reason'], message: string): Obstacle[] => [{ reason, message }];

/** A node that names its CPU models but none as its own has a CPU that no other can be compared with. An emulated CPU is the same everywhere. */
export const cpuModel: Rule = ({ spec, status }, { config, nodeLabels = {} }) => {
  const labels = Object.keys(nodeLabels);
  const has = (prefix: string): boolean => labels.some((label) => label.startsWith(prefix));
  if (spec.domain.cpu?.model !== 'host-model' || config.useEmulation || !has(CPU_MODEL) || has(HOST_MODEL)) return [];
  return obstacle(
    'CPUModeNotLiveMigratable',
    `spec.domain.cpu.model is host-model, and node ${status?.nodeName ?? ''} names no model of its own: ` +
      'give the VM one of the models that its nodes have in common',
  );
};

export const hostDevices: Rule = ({ spec }) => {
  const { hostDevices = [], gpus = [] } = spec.domain.devices;
  const names = [...hostDevices, ...gpus].map(({ name }) => name).join(', ');
  return names === '' ? [] : obstacle('HostDeviceNotLiveMigratable', `devices of the host stay there: ${names}`);
};

/** Memory that the host cannot read cannot be sent. */
export const encryptedMemory: Rule = ({ spec }) => {
  const { sev, snp, tdx } = spec.domain.launchSecurity ?? {};
  const cannot = (technique: string): string => `spec.domain.launchSecurity: memory encrypted by ${technique} stays`;
  if (sev !== undefined || snp !== undefined) return obstacle('SEVNotLiveMigratable', cannot('SEV'));
  if (tdx !== undefined) return obstacle('TDXNotLiveMigratable', cannot('TDX'));
  if (spec.architecture !== 's390x' || spec.domain.launchSecurity === undefined) return [];
  return obstacle('SecureExecutionNotLiveMigratable', cannot('Secure Execution'));
};

/** A guest that counts on Hyper-V's reenlightenment needs a TSC frequency that the target has too; one is picked when the guest starts. */
export const clock: Rule = ({ spec, status }) => {
  const reenlightenment = spec.domain.features?.hyperv?.reenlightenment;
  const isOn = reenlightenment !== undefined && reenlightenment.enabled !== false;
  if (!isOn || (status?.topologyHints?.tscFrequency ?? 0) > 0) return [];
  return obstacle(
    'NoTSCFrequencyNotLiveMigratable',
    'spec.domain.features.hyperv.reenlightenment: no TSC frequency is known that other nodes have too',
  );
};

export const hypervPassthrough: Rule = ({ spec }) => {
  const passthrough = spec.domain.features?.hypervPassthrough;
  if (passthrough === undefined || passthrough.enabled === false) return [];
  return obstacle(
    'HypervPassthroughNotLiveMigratable',
    'spec.domain.features.hypervPassthrough ties the guest to its host: name the enlightenments under hyperv instead',
  );
};
