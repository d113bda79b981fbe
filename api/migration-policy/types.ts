import type { V1alpha1MigrationPolicy } from '@kubevirt-ui-ext/kubevirt-api/kubevirt';

/** A MigrationPolicy as migrations.kubevirt.io/v1alpha1 has it; the generated type lacks a younger field, and that selectors may be missing. */
export interface MigrationPolicy extends Omit<V1alpha1MigrationPolicy, 'spec'> {
  spec: Omit<V1alpha1MigrationPolicy['spec'], 'selectors'> & {
    selectors?: V1alpha1MigrationPolicy['spec']['selectors'];
    /** Milliseconds. */
    maxDowntimeMs?: number;
  };
}
