import type { CPU, Features, VirtualMachineInstanceSpec } from '../kubevirt/types.ts';

type Hyperv = NonNullable<Features['hyperv']>;

/** Enlightenments that QEMU refuses without another one; those that others need come last. */
const NEEDS: [keyof Hyperv, 'vapic' | 'vpindex' | 'synic'][] = [
  ['evmcs', 'vapic'],
  ['ipi', 'vpindex'],
  ['tlbflush', 'vpindex'],
  ['synictimer', 'synic'],
  ['synic', 'vpindex'],
];

/** Turns on what is needed and unset. What the user turned off stays off: validation names the contradiction. */
export const completeHypervDependencies = ({ domain }: VirtualMachineInstanceSpec): void => {
  const hyperv = domain.features?.hyperv;
  if (hyperv === undefined) return;
  for (const [feature, needed] of NEEDS) {
    if (hyperv[feature]?.enabled !== true) continue;
    const state = (hyperv[needed] ??= {});
    state.enabled ??= true;
    if (!state.enabled) break;
  }
  if (hyperv.evmcs?.enabled === true) requireVmx((domain.cpu ??= {}));
};

/** Nested virtualisation needs the CPU feature of that name. */
const requireVmx = (cpu: CPU): void => {
  const features = cpu.features ?? [];
  const vmx = features.find(({ name }) => name === 'vmx');
  if (vmx === undefined) cpu.features = [...features, { name: 'vmx', policy: 'require' }];
  else vmx.policy = 'require';
};
