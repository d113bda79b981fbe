import { hasGate } from '../../../api/cluster-config/index.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { hypervLabels } from './hyperv-labels.ts';
import { hasDedicatedCpus } from './traits.ts';

const CPU_MODEL = 'cpu-model.node.kubevirt.io/';
export const CPU_FEATURE = 'cpu-feature.node.kubevirt.io/';
const MACHINE_TYPE = 'machine-type.node.kubevirt.io/';
export const TSC_FREQUENCY_LABEL = 'scheduling.node.kubevirt.io/tsc-frequency-';

/** CPU models that every node has. */
const HOST_MODELS = ['', 'host-model', 'host-passthrough'];

/** Labels that a node must carry: the cluster's, the VMI's, and what the guest's CPU, machine and features need. */
export const nodeSelector = (vmi: VirtualMachineInstance, config: ClusterConfig): Record<string, string> => {
  const { architecture, nodeSelector: own } = vmi.spec;
  return {
    'kubevirt.io/schedulable': 'true',
    ...(architecture ? { 'kubernetes.io/arch': architecture.toLowerCase() } : {}),
    ...config.nodeSelectors,
    ...own,
    ...Object.fromEntries(featureLabels(vmi, config).map((label) => [label, 'true'])),
  };
};

const featureLabels = (vmi: VirtualMachineInstance, config: ClusterConfig): string[] => {
  const { cpu } = vmi.spec.domain;
  return [
    ...(hasDedicatedCpus(vmi) ? ['kubevirt.io/cpumanager'] : []),
    ...(hasGate(config, 'HypervStrictCheck') ? hypervLabels(vmi.spec.domain.features?.hyperv) : []),
    ...cpuLabels(vmi),
    ...machineLabels(vmi),
    ...clockLabels(vmi),
    ...(cpu?.realtime === undefined ? [] : ['kubevirt.io/realtime']),
    ...securityLabels(vmi),
  ];
};

const cpuLabels = ({ spec }: VirtualMachineInstance): string[] => {
  const { model = '', features = [] } = spec.domain.cpu ?? {};
  if (model === '') return [];
  const required = features.filter(({ policy }) => !policy || policy === 'require');
  return [
    ...(HOST_MODELS.includes(model) ? [] : [`${CPU_MODEL}${model}`]),
    ...required.map(({ name }) => `${CPU_FEATURE}${name}`),
  ];
};

/** A running guest keeps the machine it has. */
const machineLabels = ({ spec, status }: VirtualMachineInstance): string[] => {
  const type = status?.machine?.type || spec.domain.machine?.type;
  return type ? [`${MACHINE_TYPE}${type}`] : [];
};

/** Whether the guest counts on a time stamp counter that is the same wherever it runs (x86 only). */
export const countsOnClock = ({ spec }: VirtualMachineInstance): boolean => {
  const invariant = (spec.domain.cpu?.features ?? []).some(
    ({ name, policy = '' }) => name === 'invtsc' && ['require', 'force'].includes(policy),
  );
  const hyperv = spec.domain.features?.hyperv?.reenlightenment;
  return invariant || (hyperv !== undefined && hyperv.enabled !== false);
};

/** It goes where its frequency is. */
const clockLabels = (vmi: VirtualMachineInstance): string[] => {
  const frequency = vmi.status?.topologyHints?.tscFrequency ?? 0;
  return countsOnClock(vmi) && frequency > 0 ? [`${TSC_FREQUENCY_LABEL}${frequency}`] : [];
};

const securityLabels = ({ spec }: VirtualMachineInstance): string[] => {
  const security = spec.domain.launchSecurity;
  if (security === undefined) return [];
  return [
    ...(security.sev !== undefined || security.snp !== undefined ? ['kubevirt.io/sev'] : []),
    ...(security.sev?.policy?.encryptedState === true ? ['kubevirt.io/sev-es'] : []),
    ...(security.snp === undefined ? [] : ['kubevirt.io/sev-snp']),
    ...(spec.architecture === 's390x' ? ['kubevirt.io/s390-pv'] : []),
    ...(security.tdx === undefined ? [] : ['kubevirt.io/tdx']),
  ];
};
