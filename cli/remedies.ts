import type { FailureInfo } from '../api/contract/failures.ts';
import { command } from './words.ts';

interface On {
  namespace: string;
  name: string;
}

/** For every failure type: what a person can do about it. Each continues a sentence: "…; do this". */
const REMEDIES: Record<FailureInfo['type'], (on: On) => string> = {
  InvalidSpec: (on) => `correct the field that the message names, then ${command('restart', on)}`,
  ObjectGone: () => 'nothing: the object was deleted; create it again if it is still wanted',
  Forbidden: (on) =>
    `change the VM or what the message names (namespace label, policy, permission), then ${command('retry', on)}`,
  QuotaExceeded: (on) =>
    `free room or raise the quota (kubectl describe resourcequota -n ${on.namespace}); it goes on by itself`,
  VolumeNotFound: () => 'create the claim that the message names; it goes on by itself',
  VolumeNotReady: (on) =>
    `look at the claim (kubectl describe pvc -n ${on.namespace}); it goes on by itself once the claim is bound`,
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
  Unproven: () => 'bring the node or its node worker back: only they can prove that the guest is gone',
  NoWorker: () => "bring that node's worker back (kubectl get pods -n virtflow -o wide); it goes on by itself",
  PodNotReady: (on) =>
    `look at the Pod's events (kubectl describe pod -n ${on.namespace}): room on nodes, selectors, the image's name`,
  DeadlineExceeded: (on) => `remove what it waited for, then ${command('retry', on)}`,
  PodFailed: (on) =>
    `look at the Pod's log and events (kubectl logs and kubectl describe pod -n ${on.namespace}), then ${command('retry', on)}`,
  NotMigratable: (on) =>
    `change what the message names and ${command('restart', on)}; until then the VM stays on its node`,
  OperationUnderWay: (on) =>
    `wait for the operation under way (${command('status', on)}) or end it, then ${command('retry', on)}`,
  MigrationFailed: (on) =>
    `remove the cause that the message names (${command('history', on)} has the steps), then ${command('retry', on)}`,
  MigrationOutcomeUnknown: () =>
    'bring one of the two nodes, its worker or its launcher back, so that it can say who holds the guest; delete neither Pod (docs/migration.md says how to settle it)',
  PeerUnreachable: () =>
    'see that both node workers are Ready (kubectl get pods -n virtflow -o wide) and that nodes reach each other on the migration port (TCP 9810 unless configured otherwise)',
  Cancelled: () => 'nothing: it was asked for',
  Unknown: (on) =>
    `read the message; the operation's page in the Temporal UI has the whole story; then ${command('retry', on)}`,
};

/** What to do about a failure of a VM. */
export const remedyFor = (type: FailureInfo['type'], on: On): string => REMEDIES[type](on);
