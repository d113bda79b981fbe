import type { GuestCall, GuestRef, GuestStream } from '../contract/guest-access.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../kubevirt/types.ts';
import { isTrue } from '../kubernetes/conditions.ts';
import type { Status } from './status.ts';
import { badRequest, conflict, forbidden } from './status.ts';

/** Why an instance cannot be asked for this now; undefined: it can. */
type Rule = (vmi: VirtualMachineInstance) => Status | undefined;

const refuse = ({ metadata }: VirtualMachineInstance, why: string): Status =>
  conflict('virtualmachineinstance', metadata?.name ?? '', why);

const isRunning = ({ status }: VirtualMachineInstance): boolean => status?.phase === 'Running';

const whileRunning =
  (word: 'VM' | 'VMI'): Rule =>
  (vmi) =>
    isRunning(vmi) ? undefined : refuse(vmi, `${word} is not running`);

const all =
  (...rules: Rule[]): Rule =>
  (vmi) => {
    for (const rule of rules) {
      const refusal = rule(vmi);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  };

const probesAllowPause: Rule = ({ metadata, spec: { livenessProbe } }) =>
  livenessProbe !== undefined && livenessProbe.guestAgentPing === undefined
    ? forbidden(
        'virtualmachineinstance',
        metadata?.name ?? '',
        'Pausing VMIs with a non-GuestAgentPing LivenessProbe is not supported',
      )
    : undefined;

const isPaused = (vmi: VirtualMachineInstance): boolean => isTrue(vmi, 'Paused');

const notPaused =
  (why: string): Rule =>
  (vmi) =>
    isPaused(vmi) ? refuse(vmi, why) : undefined;

const canHearOfShutdown: Rule = (vmi) =>
  !isTrue(vmi, 'AgentConnected') && vmi.spec.domain.features?.acpi?.enabled === false
    ? refuse(vmi, 'VMI neither have the agent connected nor the ACPI feature enabled')
    : undefined;

const withAgent: Rule = all(whileRunning('VMI'), (vmi) =>
  isTrue(vmi, 'AgentConnected') ? undefined : refuse(vmi, 'VMI does not have guest agent connected'),
);

const whenRunning: Rule = (vmi) => (isRunning(vmi) ? undefined : badRequest('VMI is not running'));

const withDisplay: Rule = all(
  ({ spec }) =>
    spec.domain.devices.autoattachGraphicsDevice === false ? badRequest('No graphics devices are present.') : undefined,
  whenRunning,
);

/** When an instance can be asked for what, with KubeVirt's codes and words. A client that waits for its console waits as long as it gets 400. */
const RULES: Record<GuestCall | GuestStream, Rule> = {
  pause: all(whileRunning('VM'), probesAllowPause, notPaused('VMI is already paused')),
  unpause: all(whileRunning('VMI'), (vmi) => (isPaused(vmi) ? undefined : refuse(vmi, 'VMI is not paused'))),
  freeze: whileRunning('VM'),
  unfreeze: whileRunning('VMI'),
  reset: (vmi) =>
    isRunning(vmi) ? undefined : refuse(vmi, `Failed to reset non-running VMI with phase ${vmi.status?.phase ?? ''}`),
  softreboot: all(whileRunning('VM'), notPaused('VMI is paused'), canHearOfShutdown),
  guestosinfo: withAgent,
  userlist: withAgent,
  filesystemlist: withAgent,
  vncScreenshot: withDisplay,
  vnc: withDisplay,
  console: all(
    ({ spec }) =>
      spec.domain.devices.autoattachSerialConsole === false ? badRequest('No serial consoles are present.') : undefined,
    (vmi) => (vmi.status?.phase === 'Failed' ? refuse(vmi, 'VMI is in failed status') : undefined),
    whenRunning,
  ),
  portforward: all(notPaused('VMI is paused'), whenRunning, ({ status }) =>
    (status?.interfaces ?? []).length === 0 ? badRequest('no network interfaces are present') : undefined,
  ),
};

/** Why an instance must stay paused, whatever its own state: its VM is being snapshotted. */
export const unpauseRefusal = (vm: VirtualMachine | undefined): Status | undefined =>
  vm?.status?.snapshotInProgress === undefined
    ? undefined
    : conflict('virtualmachine', vm.metadata?.name ?? '', 'VM snapshot is in progress');

/** The Pod on the instance's node. Undefined while the status does not say so. */
const guestOf = ({ metadata, status }: VirtualMachineInstance): GuestRef | undefined => {
  const { namespace, name, uid } = metadata ?? {};
  const node = status?.nodeName;
  const podUid = Object.entries(status?.activePods ?? {}).find(([, on]) => on === node)?.[0];
  if (namespace === undefined || name === undefined || uid === undefined) return undefined;
  return node === undefined || podUid === undefined ? undefined : { namespace, name, vmiUid: uid, podUid, node };
};

/** Where the guest is that is asked for this, or why it cannot be asked now. */
export const reachGuest = (
  call: GuestCall | GuestStream,
  vmi: VirtualMachineInstance,
): { guest: GuestRef; refusal?: undefined } | { refusal: Status } => {
  const refusal = RULES[call](vmi);
  if (refusal !== undefined) return { refusal };
  const guest = guestOf(vmi);
  return guest === undefined
    ? { refusal: refuse(vmi, 'its status does not say yet on which node it runs: try again') }
    : { guest };
};
