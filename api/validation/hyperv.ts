import type { Features } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, required, when } from './cause.ts';

type Hyperv = NonNullable<Features['hyperv']>;

const FIELD = 'spec.domain.features.hyperv';
const CPU_FEATURES = 'spec.domain.cpu.features';

/** Enlightenments that QEMU refuses without another one. */
const NEEDS: [keyof Hyperv, keyof Hyperv][] = [
  ['evmcs', 'vapic'],
  ['ipi', 'vpindex'],
  ['tlbflush', 'vpindex'],
  ['synictimer', 'synic'],
  ['synic', 'vpindex'],
];

/** What the defaults could not switch on, because the user switched it off. */
export const hypervRules: Rule = ({ spec }) => {
  const { hyperv, hypervPassthrough } = spec.domain.features ?? {};
  if (hyperv === undefined) return [];
  return [
    ...NEEDS.flatMap(([feature, needed]) =>
      when(hyperv[feature]?.enabled === true && hyperv[needed]?.enabled !== true, () =>
        invalid(`${FIELD}.${feature}`, `it needs ${needed}, which is switched off`),
      ),
    ),
    ...when(hypervPassthrough !== undefined, () =>
      invalid(FIELD, 'the host’s own enlightenments (hypervPassthrough) and a list exclude each other: drop one'),
    ),
    ...(hyperv.evmcs !== undefined && hyperv.evmcs.enabled !== false ? vmx(spec.domain.cpu?.features ?? []) : []),
  ];
};

const vmx = (features: { name: string; policy?: string }[]): Cause[] => {
  if (features.length === 0) return [required(CPU_FEATURES, 'evmcs needs the CPU feature vmx')];
  return features.flatMap(({ name, policy }, index) =>
    when(name === 'vmx' && policy !== 'require', () =>
      invalid(`${CPU_FEATURES}[${index}].policy`, 'evmcs needs the policy require of vmx'),
    ),
  );
};
