import { expect, test } from '@jest/globals';
import type { GuestCall, GuestStream } from '../../../../api/contract/guest-access.ts';
import type { VirtualMachineInstance } from '../../../../api/kubevirt/types.ts';
import { reachGuest, unpauseRefusal } from '../../../../api/subresources/instance.ts';

interface Traits {
  phase?: string;
  conditions?: string[];
  spec?: Partial<VirtualMachineInstance['spec']>;
  devices?: VirtualMachineInstance['spec']['domain']['devices'];
  interfaces?: object[];
  activePods?: Record<string, string>;
}

const vmiOf = ({
  phase = 'Running',
  conditions = [],
  spec,
  devices = {},
  ...rest
}: Traits): VirtualMachineInstance => ({
  metadata: { namespace: 'team', name: 'web', uid: 'vmi-uid' },
  spec: { domain: { devices }, ...spec },
  status: {
    phase,
    nodeName: 'node-a',
    activePods: rest.activePods ?? { 'old-pod': 'node-b', 'pod-uid': 'node-a' },
    interfaces: rest.interfaces ?? [{ ipAddress: '10.0.0.7' }],
    conditions: conditions.map((text) => {
      const [type = '', status = 'True'] = text.split('=');
      return { type, status };
    }),
  },
});

const livenessProbe = (probe: object) => ({ spec: { livenessProbe: probe } });
const acpi = (enabled: boolean) => ({ spec: { domain: { devices: {}, features: { acpi: { enabled } } } } });
const agent = ['AgentConnected'];
const REACHED = 'reached';
const PROBED = '403 Pausing VMIs with a non-GuestAgentPing LivenessProbe is not supported';
const NO_AGENT = '409 VMI does not have guest agent connected';
const DEAF = '409 VMI neither have the agent connected nor the ACPI feature enabled';

test.each<[GuestCall | GuestStream, string, Traits]>([
  ['pause', REACHED, {}],
  ['pause', '409 VM is not running', { phase: 'Scheduled' }],
  ['pause', '409 VMI is already paused', { conditions: ['Paused'] }],
  ['pause', REACHED, { conditions: ['Paused=False'] }],
  ['pause', PROBED, livenessProbe({ tcpSocket: { port: 22 } })],
  ['pause', REACHED, livenessProbe({ guestAgentPing: {} })],
  ['unpause', REACHED, { conditions: ['Paused'] }],
  ['unpause', '409 VMI is not paused', {}],
  ['unpause', '409 VMI is not running', { phase: 'Failed', conditions: ['Paused'] }],
  ['freeze', REACHED, {}],
  ['freeze', '409 VM is not running', { phase: 'Succeeded' }],
  ['unfreeze', REACHED, {}],
  ['unfreeze', '409 VMI is not running', { phase: '' }],
  ['reset', REACHED, {}],
  ['reset', '409 Failed to reset non-running VMI with phase Scheduled', { phase: 'Scheduled' }],
  ['softreboot', REACHED, {}],
  ['softreboot', REACHED, { ...acpi(false), conditions: agent }],
  ['softreboot', DEAF, acpi(false)],
  ['softreboot', '409 VMI is paused', { conditions: ['Paused'] }],
  ['softreboot', '409 VM is not running', { phase: 'Pending' }],
  ['guestosinfo', REACHED, { conditions: agent }],
  ['guestosinfo', NO_AGENT, {}],
  ['userlist', NO_AGENT, { conditions: ['AgentConnected=False'] }],
  ['filesystemlist', '409 VMI is not running', { phase: 'Scheduled', conditions: agent }],
  ['vnc', REACHED, {}],
  ['vnc', '400 VMI is not running', { phase: 'Scheduled' }],
  ['vnc', '400 No graphics devices are present.', { devices: { autoattachGraphicsDevice: false } }],
  ['vncScreenshot', '400 No graphics devices are present.', { devices: { autoattachGraphicsDevice: false } }],
  ['console', REACHED, {}],
  ['console', REACHED, { conditions: ['Paused'] }],
  ['console', '400 VMI is not running', { phase: 'Scheduling' }],
  ['console', '409 VMI is in failed status', { phase: 'Failed' }],
  ['console', '400 No serial consoles are present.', { devices: { autoattachSerialConsole: false } }],
  ['portforward', REACHED, {}],
  ['portforward', '409 VMI is paused', { conditions: ['Paused'] }],
  ['portforward', '400 no network interfaces are present', { interfaces: [] }],
  ['portforward', '400 VMI is not running', { phase: 'Scheduling', interfaces: [] }],
  ['console', '409 its status does not say yet on which node it runs: try again', { activePods: {} }],
])('%s: %s', (call, then, traits) => {
  const { refusal } = reachGuest(call, vmiOf(traits));
  expect(
    refusal === undefined ? REACHED : `${refusal.code} ${refusal.message.replace(/^.*"web"( is forbidden)?: /, '')}`,
  ).toBe(then);
});

test('the guest is where its status says, not where another of its Pods is', () => {
  expect(reachGuest('pause', vmiOf({}))).toEqual({
    guest: { namespace: 'team', name: 'web', vmiUid: 'vmi-uid', podUid: 'pod-uid', node: 'node-a' },
  });
});

test('a VM that is being snapshotted stays paused', () => {
  const vm = { metadata: { name: 'web' }, spec: { template: {} }, status: { snapshotInProgress: 'snap' } };
  expect(unpauseRefusal(vm)).toMatchObject({ code: 409, details: { name: 'web', kind: 'virtualmachine' } });
  expect(unpauseRefusal({ ...vm, status: {} })).toBeUndefined();
  expect(unpauseRefusal(undefined)).toBeUndefined();
});
