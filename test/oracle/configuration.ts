import { effectiveConfiguration, type ClusterConfig } from '../../api/cluster-config/index.ts';
import type { KubeVirt, KubeVirtConfiguration } from '../../api/kubevirt/types.ts';

/** Departures from an empty KubeVirt object that a case may name. */
export interface Departures {
  featureGates?: string[];
  disabledFeatureGates?: string[];
  useEmulation?: boolean;
  kubevirtConfiguration?: KubeVirtConfiguration;
}

/** The configuration that a case was answered under. */
export function configurationOf(departures: Departures): ClusterConfig {
  const { featureGates, disabledFeatureGates, useEmulation, kubevirtConfiguration = {} } = departures;
  const developerConfiguration = {
    ...kubevirtConfiguration.developerConfiguration,
    ...(featureGates ? { featureGates } : {}),
    ...(disabledFeatureGates ? { disabledFeatureGates } : {}),
    ...(useEmulation === undefined ? {} : { useEmulation }),
  };
  // The generated type spells the field otherwise than the API does.
  return effectiveConfiguration({
    spec: { configuration: { ...kubevirtConfiguration, developerConfiguration } },
  } as KubeVirt);
}
