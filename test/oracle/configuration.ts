import { effectiveConfiguration, type ClusterConfig } from '../../api/cluster-config/index.ts';
import type { KubeVirt, KubeVirtConfiguration } from '../../api/kubevirt/types.ts';

/** Departures from an empty KubeVirt object that a case may name. */
export interface Departures {
  featureGates?: string[];
  disabledFeatureGates?: string[];
  useEmulation?: boolean;
  vmRolloutStrategy?: NonNullable<KubeVirtConfiguration['vmRolloutStrategy']>;
  kubevirtConfiguration?: KubeVirtConfiguration;
}

/** The configuration that a case was answered under. */
export function configurationOf(departures: Departures): ClusterConfig {
  const {
    featureGates,
    disabledFeatureGates,
    useEmulation,
    vmRolloutStrategy,
    kubevirtConfiguration = {},
  } = departures;
  const developerConfiguration = {
    ...kubevirtConfiguration.developerConfiguration,
    ...(featureGates ? { featureGates } : {}),
    ...(disabledFeatureGates ? { disabledFeatureGates } : {}),
    ...(useEmulation === undefined ? {} : { useEmulation }),
  };
  // The generated type spells the field otherwise than the API does.
  return effectiveConfiguration({
    spec: {
      configuration: {
        ...kubevirtConfiguration,
        ...(vmRolloutStrategy === undefined ? {} : { vmRolloutStrategy }),
        developerConfiguration,
      },
    },
  } as KubeVirt);
}
