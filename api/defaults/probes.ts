import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';

const DEFAULTS = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
const NAMES = ['timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'] as const;

/** Kubernetes' own defaults of probes; whatever is below one counts as absent. */
export const completeProbes = ({ readinessProbe, livenessProbe }: VirtualMachineInstanceSpec): void => {
  for (const probe of [readinessProbe, livenessProbe]) {
    if (probe === undefined) continue;
    for (const name of NAMES) if ((probe[name] ?? 0) < 1) probe[name] = DEFAULTS[name];
  }
};
