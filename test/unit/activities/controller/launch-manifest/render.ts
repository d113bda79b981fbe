import { renderLaunchManifest } from '../../../../../activities/controller/launch-manifest/index.ts';
import type { LaunchInput } from '../../../../../activities/controller/launch-manifest/index.ts';
import type { Container, Pod, PodSpec } from '../../../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';
import { configured } from '../../../../support/instances.ts';

/** Input of the renderer around a VMI. */
export const launch = (vmi: VirtualMachineInstance, more: Partial<LaunchInput> = {}): LaunchInput => ({
  vmi,
  config: configured(),
  launcherImage: 'registry.test/launcher:1',
  purpose: { attempt: 1 },
  epoch: 7,
  ...more,
});

export const render = (vmi: VirtualMachineInstance, more: Partial<LaunchInput> = {}): Pod =>
  renderLaunchManifest(launch(vmi, more));

export const specOf = (pod: Pod): PodSpec => {
  if (pod.spec === undefined) throw new Error('the Pod has no spec');
  return pod.spec;
};

/** A container or init container by name. */
export const container = (pod: Pod, name: string): Container => {
  const { containers, initContainers = [] } = specOf(pod);
  const found = [...containers, ...initContainers].find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`the Pod has no container ${name}`);
  return found;
};
