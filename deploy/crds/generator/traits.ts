const AT_MOST_256 = { maxItems: 256 };

/**
 * What TypeScript's declarations do not say of KubeVirt's types, by interface or `interface.field`: it is merged into the generated schema; with a
 * `type` it takes its place.
 */
export const TRAITS: Record<string, Record<string, unknown>> = {
  // Whatever metadata the objects made from a template may have.
  'V1VirtualMachineInstanceTemplateSpec.metadata': {
    ...{ type: 'object', nullable: true, 'x-kubernetes-preserve-unknown-fields': true },
  },
  'V1DataVolumeTemplateSpec.metadata': {
    ...{ type: 'object', nullable: true, 'x-kubernetes-preserve-unknown-fields': true },
  },
  'V1DataVolumeTemplateSpec.status': { nullable: true },
  'V1alpha1MigrationPolicy.status': { nullable: true },
  'V1VirtualMachineInstanceReplicaSet.status': { nullable: true },
  'V1VirtualMachineStatus.memoryDumpRequest': { nullable: true },
  'V1VirtualMachineStatus.startFailure': { nullable: true },
  'V1VirtualMachineStatus.instancetypeRef': { nullable: true },
  'V1VirtualMachineStatus.preferenceRef': { nullable: true },

  'V1TokenBucketRateLimiter.qps': { type: 'number' },

  'V1VirtualMachineInstanceMigration.spec': {
    'x-kubernetes-validations': [
      {
        rule: 'self == oldSelf',
        message: 'a migration cannot be changed; delete it, which cancels it, and create another one',
      },
    ],
  },
  'V1ContainerPathVolumeSource.readOnly': { default: true },

  'V1VirtualMachineInstanceSpec.resourceClaims': mapBy('name'),
  'V1VirtualMachineInstanceSpec.utilityVolumes': { ...mapBy('name'), ...AT_MOST_256 },
  'V1VirtualMachineInstanceSpec.topologySpreadConstraints': mapBy('topologyKey', 'whenUnsatisfiable'),
  'V1KubeVirtConfiguration.supportContainerResources': mapBy('type'),

  'V1MigrationConfiguration.maxDowntimeMs': { minimum: 1, maximum: 2_000_000 },
  'V1VMIMConfigurationOptions.maxDowntimeMs': { minimum: 1, maximum: 2_000_000 },
  'V1alpha1MigrationPolicySpec.completionTimeoutPerGiB': { minimum: 0 },
  'V1alpha1MigrationPolicySpec.bandwidthPerMigration': {
    'x-kubernetes-validations': [
      { rule: "type(self) == int ? self >= 0 : !self.startsWith('-')", message: 'must not be negative' },
    ],
  },
  'V1alpha1MigrationPolicySpec.maxDowntimeMs': { minimum: 1, maximum: 2_000_000 },
  'V1DeveloperConfiguration.memoryOvercommit': { minimum: 10 },

  'V1VirtualMachineInstanceSpec.accessCredentials': AT_MOST_256,
  'V1VirtualMachineInstanceSpec.networks': AT_MOST_256,
  'V1VirtualMachineInstanceSpec.volumes': AT_MOST_256,
  'V1Devices.disks': AT_MOST_256,
  'V1Devices.interfaces': AT_MOST_256,

  'V1beta1MemoryInstancetype.overcommitPercent': { minimum: 0, maximum: 100 },

  'V1beta1DataVolumeSpec.contentType': { enum: ['kubevirt', 'archive'] },
  'V1ReservedOverhead.memLock': { enum: ['NotRequired', 'Required'] },
  'V1DomainSpec.rebootPolicy': { enum: ['Reboot', 'Terminate'] },
  'V1ExperimentalMigrationOptions.compression': { enum: ['none', 'zstd'] },
  'V1HypervisorConfiguration.name': { enum: ['kvm', 'hyperv-direct'] },
  'V1InstancetypeConfiguration.referencePolicy': { enum: ['reference', 'expand', 'expandAll'] },
  'V1KubeVirtConfiguration.roleAggregationStrategy': { enum: ['AggregateToDefault', 'Manual'] },
  'V1KubeVirtConfiguration.vmRolloutStrategy': { enum: ['Stage', 'LiveUpdate'] },
  'V1TLSConfiguration.minTLSVersion': {
    enum: ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'],
  },
};

/** A list that merges item by item on server-side apply, and names none twice. */
function mapBy(...keys: string[]): Record<string, unknown> {
  return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys };
}
