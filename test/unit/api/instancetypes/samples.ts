import type { InstancetypeSpec, PreferenceSpec } from '../../../../api/instancetypes/index.ts';
import type { VirtualMachine } from '../../../../api/kubevirt/types.ts';

/** An instance type from the parts that a test is about. */
export const instancetype = ({
  cpu,
  memory,
  ...rest
}: { cpu?: object; memory?: object; [other: string]: unknown } = {}): InstancetypeSpec => ({
  cpu: { guest: 2, ...cpu },
  memory: { guest: '1Gi', ...memory },
  ...rest,
});

export const preference = (spec: object): PreferenceSpec => spec;

/** A VM whose template has this spec. */
export const vm = (spec: object = {}, metadata: object = {}, rest: object = {}): VirtualMachine => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { namespace: 'shop', name: 'web', uid: 'vm-uid' },
  spec: {
    runStrategy: 'Halted',
    instancetype: { name: 'small' },
    template: { metadata, spec: { domain: { devices: {} }, ...spec } },
    ...rest,
  },
});
