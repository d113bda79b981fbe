/**
 * Feature gates of KubeVirt's developerConfiguration that are Beta at the release virtflow follows (1.9): on unless
 * `disabledFeatureGates` names them. Alpha gates are off unless `featureGates` names them. What is generally available has no gate here.
 */
const ON_BY_DEFAULT = [
  'DecentralizedLiveMigration',
  'DeclarativeHotplugVolumes',
  'ExternalNetResourceInjection',
  'GPUsWithDRA',
  'HostDevicesWithDRA',
  'ImageVolume',
  'KubevirtSeccompProfile',
  'NodeRestriction',
  'OptOutRoleAggregation',
  'PasstBinding',
  'PodSecondaryInterfaceNamingUpgrade',
  'RebootPolicy',
  'Snapshot',
  'Template',
  'WorkloadEncryptionSEV',
];

/** Gates in force, sorted. A gate that is named both ways is on, as upstream. */
export const gatesInForce = (enabled: readonly string[], disabled: readonly string[]): string[] => {
  const byDefault = ON_BY_DEFAULT.filter((gate) => !disabled.includes(gate));
  return [...new Set([...byDefault, ...enabled])].sort();
};
