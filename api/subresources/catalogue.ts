/** The API group of actions on VMs and instances, and its versions, the preferred one first. */
export const SUBRESOURCES_GROUP = 'subresources.kubevirt.io';
export const SUBRESOURCES_VERSIONS = ['v1', 'v1alpha3'] as const;

/** A change, or a question. */
export type Method = 'PUT' | 'GET';

/** What can be asked of a VM, with one answer. */
export const VIRTUAL_MACHINE = {
  start: 'PUT',
  stop: 'PUT',
  restart: 'PUT',
  migrate: 'PUT',
  addvolume: 'PUT',
  removevolume: 'PUT',
  'evacuate/cancel': 'PUT',
  'expand-spec': 'GET',
} as const satisfies Record<string, Method>;

/** What can be asked of an instance, with one answer. */
export const INSTANCE = {
  pause: 'PUT',
  unpause: 'PUT',
  freeze: 'PUT',
  unfreeze: 'PUT',
  reset: 'PUT',
  softreboot: 'PUT',
  addvolume: 'PUT',
  removevolume: 'PUT',
  'evacuate/cancel': 'PUT',
  guestosinfo: 'GET',
  userlist: 'GET',
  filesystemlist: 'GET',
  'vnc/screenshot': 'GET',
} as const satisfies Record<string, Method>;

/** Streams of bytes over WebSocket. `portforward` is followed by a port and, if it is not tcp, a protocol. */
export const STREAMS = {
  virtualmachines: ['portforward'],
  virtualmachineinstances: ['console', 'vnc', 'portforward'],
} as const;

/** KubeVirt's subresources that virtflow has no answer to, and why. */
export const NOT_SERVED: ReadonlyMap<string, string> = new Map([
  ['memorydump', 'virtflow dumps no memory yet'],
  ['removememorydump', 'virtflow dumps no memory yet'],
  ['usbredir', 'virtflow redirects no USB devices yet'],
  ['vsock', 'virtflow forwards no vsock yet'],
  ['objectgraph', 'virtflow draws no graph of objects'],
  ['backup', 'virtflow makes no backups yet'],
  ['redefine-checkpoint', 'virtflow makes no backups yet'],
  ['sev/fetchcertchain', 'virtflow does not serve SEV'],
  ['sev/querylaunchmeasurement', 'virtflow does not serve SEV'],
  ['sev/setupsession', 'virtflow does not serve SEV'],
  ['sev/injectlaunchsecret', 'virtflow does not serve SEV'],
]);

/** Whole cluster, without object: open to all who get to the API server. */
export const CLUSTER_WIDE = ['version', 'healthz'] as const;

export type VirtualMachineSubresource = keyof typeof VIRTUAL_MACHINE;
export type InstanceSubresource = keyof typeof INSTANCE;
