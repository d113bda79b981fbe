import type { FailureInfo } from '../api/contract/failures.ts';
import { command } from './words.ts';

interface On {
  namespace: string;
  name: string;
}

type Remedy = (on: On, message: string) => string;

/** The VM runs and is well: none of these may disturb it, and only what is fixed when a VM starts takes a new start. First match. */
const NOT_MIGRATABLE: readonly [RegExp, Remedy][] = [
  [/does not exist|did not exist|no instance/, (on) => `start it: ${command('start', on)} --wait`],
  [/does not run|its phase is/, (on) => `wait until it runs (${command('status', on)}), or start it`],
  [/no other node is labelled/, () => 'bring a second node and its worker back (kubectl get pods -n virtflow -o wide)'],
  [
    /the VM's nodeSelector/,
    (on) => `give another node these labels (kubectl label node), then ${command('migrate', on)}`,
  ],
  [/has the labels/, (on) => `${command('migrate', on)} again with another selector, or give a node these labels`],
  [
    /ReadWriteMany/,
    () =>
      'to make it migratable, create a ReadWriteMany claim, copy the data into it while the VM is stopped, and name it in the VM (access modes of a bound claim cannot be changed); until then it runs on where it is',
  ],
  [/paused (by|it)/, (on) => `remove the cause of the pause, then ${command('migrate', on)}`],
  [/being deleted|\bending|being shut down/, () => 'wait for its end'],
  [
    /NotLiveMigratable/,
    (on) =>
      `change the field that the message names; it counts from the next start on (${command('restart', on)} when it suits), until then the VM runs on where it is`,
  ],
];

const notMigratable: Remedy = (on, message) =>
  NOT_MIGRATABLE.find(([pattern]) => pattern.test(message))?.[1](on, message) ??
  `remove what the message names, then ${command('migrate', on)}; until then the VM runs on where it is`;

/** What a Pod needs that is not ready, by what its message says of it. */
const podNotReady: Remedy = ({ namespace }, message) => {
  const pod = /\bPod (?!cannot)([a-z0-9][-a-z0-9.]*)/.exec(message)?.[1] ?? 'POD';
  const see = `see the Pod's events (kubectl describe pod -n ${namespace} ${pod})`;
  if (/Unschedulable|cannot be scheduled/.test(message))
    return `make room on nodes, or change the selectors that rule them out; ${see}`;
  if (/Image|[Pp]ull/.test(message)) return `correct the image's name, or make its registry reachable; ${see}`;
  return `${see}: room on nodes, selectors, the image's name`;
};

/** For every failure type: what a person can do about it. Each continues a sentence: "…; do this". */
const REMEDIES: Record<FailureInfo['type'], Remedy> = {
  InvalidSpec: (on) => `correct the field that the message names, then ${command('restart', on)}`,
  ObjectGone: () => 'nothing: the object was deleted; create it again if it is still wanted',
  Forbidden: (on) =>
    `change the VM or what the message names (namespace label, policy, permission), then ${command('retry', on)}`,
  NotAuthorized: () => 'apply deploy/ of this release again; it goes on by itself',
  QuotaExceeded: (on) =>
    `free room or raise the quota (kubectl describe resourcequota -n ${on.namespace}); it goes on by itself`,
  VolumeNotFound: () => 'create the claim that the message names; it goes on by itself',
  VolumeNotReady: (on) =>
    `look at the claim (kubectl describe pvc -n ${on.namespace}); it goes on by itself once the claim is bound`,
  VolumeFailed: (on) =>
    `look at the DataVolume (kubectl describe datavolume -n ${on.namespace}) and create it again, then ${command('restart', on)}`,
  InstancetypeNotFound: () => 'create the instance type that the message names; it goes on by itself',
  PreferenceNotFound: () => 'create the preference that the message names; it goes on by itself',
  NetworkNotFound: () => 'create the NetworkAttachmentDefinition that the message names; it goes on by itself',
  ImageContent: (on) => `correct the image or the path that the message names, then ${command('restart', on)}`,
  TokenHeld: (on) =>
    `wait for the end of the Pod that the message names, or end it (kubectl delete pod -n ${on.namespace}); never delete the Lease`,
  StaleToken: (on) =>
    `nothing: somebody else took over (a later attempt or another operation); see ${command('history', on)}`,
  LauncherUnreachable: (on) =>
    `look at the launcher Pod's log (kubectl logs -n ${on.namespace} POD -c compute); its init starts a dead launcher again`,
  LauncherTooOld: (on) =>
    `shut the VM down and start it again, so that it gets a launcher of this release: ${command('restart', on)}`,
  DomainFailed: (on) =>
    `look at libvirt's words in the message and in the launcher Pod's log (container compute), then ${command('retry', on)}`,
  DomainRejected: (on) => `correct the VM as libvirt's message says, then ${command('restart', on)}`,
  StillRunning: (on) => `nothing yet: it is tried again; to end the guest at once, ${command('stop', on)} --force`,
  Unproven: () =>
    'bring the node or its node worker back: only they can prove that the guest is gone; if the machine is off and stays so: virtflow fence NODE',
  NoWorker: () =>
    "bring that node's worker back (kubectl get pods -n virtflow -o wide); it goes on by itself; if the machine is off and stays so: virtflow fence NODE",
  NodeFenced: () => 'once the node is well again: virtflow fence --undo NODE',
  PodNotReady: podNotReady,
  DeadlineExceeded: (on) => `remove what it waited for, then ${command('retry', on)}`,
  PodFailed: (on) =>
    `look at the Pod's log and events (kubectl logs and kubectl describe pod -n ${on.namespace}), then ${command('retry', on)}`,
  NotMigratable: notMigratable,
  OperationUnderWay: (on) =>
    `wait for the operation under way (${command('status', on)}) or end it, then ${command('retry', on)}`,
  MigrationFailed: (on) =>
    `remove the cause that the message names (${command('history', on)} has the steps), then ${command('retry', on)}`,
  MigrationOutcomeUnknown: () =>
    'bring one of the two nodes, its worker or its launcher back, so that it can say who holds the guest; delete neither Pod (docs/migration.md says how to settle it)',
  PeerUnreachable: () =>
    'see that both node workers are Ready (kubectl get pods -n virtflow -o wide) and that nodes reach each other on the migration port (TCP 9810 unless configured otherwise)',
  Refused: (on) => `bring the VM into the state that the message asks for (${command('status', on)}), then ask again`,
  Cancelled: () => 'nothing: it was asked for',
  Unknown: (on) =>
    `read the message; the operation's page in the Temporal UI has the whole story; then ${command('retry', on)}`,
};

/** What to do about a failure of a VM; its message makes it more precise. */
export const remedyFor = (type: FailureInfo['type'], on: On, message = ''): string => REMEDIES[type](on, message);
