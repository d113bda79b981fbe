import type { ClusterConfig } from '../../api/cluster-config/index.ts';
import { effectiveConfiguration, UnreadableConfiguration } from '../../api/cluster-config/index.ts';
import type { KubeVirt } from '../../api/kubevirt/types.ts';
import type { ConditionReport } from '../../api/contract/activities.ts';
import { SERVED_VERSION } from '../../api/subresources/version.ts';
import { mergeConditions, timestamp } from '../../activities/controller/conditions.ts';
import { mergePatchOf } from '../../activities/controller/merge-patch.ts';

/** Condition of the KubeVirt object while it cannot be read. */
const UNREADABLE = 'ConfigurationUnreadable';
const OWNED = new Set([UNREADABLE, 'Created', 'Available', 'Progressing', 'Degraded']);

export interface ConfigState {
  /** The configuration in force. */
  config: ClusterConfig;
  /** Why the object's newest configuration is not in force. */
  unreadable?: string;
}

/** There is one KubeVirt object; of several the oldest counts. */
export const theKubeVirt = (objects: KubeVirt[]): KubeVirt | undefined =>
  [...objects].sort((a, b) =>
    (a.metadata?.creationTimestamp ?? '').localeCompare(b.metadata?.creationTimestamp ?? ''),
  )[0];

/**
 * The configuration that follows from the KubeVirt object. One that cannot be read changes nothing: the last good one stays, which a worker that was
 * just started finds in the object's status.
 */
export const nextConfig = (kubevirt: KubeVirt | undefined, before: ConfigState | undefined): ConfigState => {
  try {
    return { config: effectiveConfiguration(kubevirt) };
  } catch (error) {
    if (!(error instanceof UnreadableConfiguration)) throw error;
    return { config: before?.config ?? lastGood(kubevirt), unreadable: error.message };
  }
};

/** The configuration as it changes with the KubeVirt objects. */
export interface ConfigKeeper {
  /** In force: KubeVirt's defaults until the first update. */
  current(): ConfigState;
  update(objects: KubeVirt[]): ConfigState;
}

export const configKeeper = (): ConfigKeeper => {
  // Nothing until an object was seen: defaults are no last good configuration.
  let state: ConfigState | undefined;
  return {
    current: () => state ?? { config: effectiveConfiguration(undefined) },
    update: (objects) => (state = nextConfig(theKubeVirt(objects), state)),
  };
};

/** The generated type calls the field by another name than the API does. */
const configurationOf = ({ spec }: KubeVirt): object => (spec as { configuration?: object }).configuration ?? {};

const lastGood = (kubevirt: KubeVirt | undefined): ClusterConfig => {
  try {
    const configuration: unknown = JSON.parse(kubevirt?.status?.observedDeploymentConfig ?? '{}');
    return effectiveConfiguration({ spec: { configuration } as KubeVirt['spec'] });
  } catch {
    return effectiveConfiguration(undefined);
  }
};

/** What has to change in the KubeVirt object's status (KubeVirt's tools wait for phase Deployed and condition Available); undefined: nothing. */
export const kubeVirtPatch = (
  kubevirt: KubeVirt,
  { config, unreadable }: ConfigState,
  now: Date,
): Record<string, unknown> | undefined => {
  const isReadable = unreadable === undefined;
  const conditions: ConditionReport[] = [
    { type: 'Created', status: 'True', reason: 'AllResourcesCreated', message: 'virtflow is installed' },
    { type: 'Available', status: 'True', reason: 'AllComponentsReady', message: 'virtflow serves' },
    { type: 'Progressing', status: 'False', reason: 'AllComponentsReady', message: 'nothing is being rolled out' },
    isReadable
      ? { type: 'Degraded', status: 'False', reason: 'AllComponentsReady', message: 'the configuration is in force' }
      : { type: 'Degraded', status: 'True', reason: UNREADABLE, message: unreadable },
    ...(isReadable ? [] : [{ type: UNREADABLE, status: 'True', reason: 'InvalidSpec', message: unreadable } as const]),
  ];
  return mergePatchOf(kubevirt, {
    status: {
      phase: 'Deployed',
      // There is no operator and no roll-out of its own: what runs is what is wanted.
      operatorVersion: SERVED_VERSION,
      targetKubeVirtVersion: SERVED_VERSION,
      observedKubeVirtVersion: SERVED_VERSION,
      defaultArchitecture: config.defaultArchitecture,
      conditions: mergeConditions(
        kubevirt.status?.conditions ?? [],
        conditions,
        (type) => OWNED.has(type),
        timestamp(now),
      ),
      ...(isReadable
        ? {
            observedGeneration: kubevirt.metadata?.generation ?? 0,
            observedDeploymentConfig: JSON.stringify(configurationOf(kubevirt)),
          }
        : {}),
    },
  });
};
