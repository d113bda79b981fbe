import type { ControllerActivities } from '../../api/contract/activities.ts';
import { withFailures } from '../failures.ts';
import { createEvacuation } from './evacuation/create-evacuation.ts';
import { observeEvacuation } from './evacuation/observe-evacuation.ts';
import { cancelEvacuation, tellBackoff, withdrawEvacuation } from './evacuation/take-back.ts';
import { admitInstance } from './instance/admit-instance.ts';
import { adoptInstance } from './instance/adopt-instance.ts';
import { ensureLauncherPod } from './instance/ensure-launcher-pod.ts';
import { ensureTargetPod } from './instance/ensure-target-pod.ts';
import { deletePod, observePod } from './instance/observe-pod.ts';
import { publishInstance } from './instance/publish-instance.ts';
import { releaseInstance } from './instance/release-instance.ts';
import { admitMigration } from './migration/admit-migration.ts';
import { observePermits, requestPermit, returnPermit } from './migration/permits.ts';
import { publishMigration } from './migration/publish-migration.ts';
import { closeNode, openNode } from './nodes/close-node.ts';
import { assessDeletedNode, liftFence, recordFence } from './nodes/fence-record.ts';
import { tellInstances } from './nodes/tell-instances.ts';
import type { ControllerPorts } from './ports.ts';
import { createReplicas, deleteReplicas } from './replica-set/change-replicas.ts';
import { claimReplicas } from './replica-set/claim-replicas.ts';
import { publishReplicaSet } from './replica-set/publish-replica-set.ts';
import { acquireToken } from './token/acquire-token.ts';
import { bindToken } from './token/bind-token.ts';
import { moveToken, readToken, recordMove, tokenStays } from './token/move-token.ts';
import { releaseToken } from './token/release-token.ts';
import { Tokens } from './token/store.ts';
import { adoptVirtualMachine } from './virtual-machine/adopt.ts';
import { queueStart, switchOn } from './virtual-machine/change-request.ts';
import { createAndShow } from './virtual-machine/create-and-show.ts';
import { deleteInstance } from './virtual-machine/delete-instance.ts';
import { ensureDataVolumes } from './virtual-machine/ensure-data-volumes.ts';
import { publishVirtualMachine } from './virtual-machine/publish-virtual-machine.ts';
import { releaseVirtualMachine } from './virtual-machine/release.ts';
import { observeTrigger } from './virtual-machine/triggers/observe-trigger.ts';
import { performTrigger } from './virtual-machine/triggers/perform-trigger.ts';
import { checkVolumes } from './volumes/check-volumes.ts';

export type { ControllerPorts } from './ports.ts';

/** Everything that the controller queue serves besides workflows. */
export const controllerActivities = (outside: ControllerPorts): ControllerActivities => {
  const ports = { ...outside, tokens: new Tokens(outside.kube) };
  return withFailures({
    adoptInstance: adoptInstance(ports),
    admitInstance: admitInstance(ports),
    checkVolumes: checkVolumes(ports),
    acquireToken: acquireToken(ports),
    ensureLauncherPod: ensureLauncherPod(ports),
    ensureTargetPod: ensureTargetPod(ports),
    bindToken: bindToken(ports),
    releaseToken: releaseToken(ports),
    recordMove: recordMove(ports),
    tokenStays: tokenStays(ports),
    moveToken: moveToken(ports),
    readToken: readToken(ports),
    observePod: observePod(ports),
    deletePod: deletePod(ports),
    publishInstance: publishInstance(ports),
    releaseInstance: releaseInstance(ports),
    adoptVirtualMachine: adoptVirtualMachine(ports),
    createInstance: createAndShow(ports),
    deleteInstance: deleteInstance(ports),
    switchOn: switchOn(ports),
    queueStart: queueStart(ports),
    ensureDataVolumes: ensureDataVolumes(ports),
    admitMigration: admitMigration(ports),
    publishMigration: publishMigration(ports),
    requestPermit: requestPermit(ports),
    returnPermit: returnPermit(ports),
    observePermits: observePermits(ports),
    closeNode: closeNode(ports),
    openNode: openNode(ports),
    recordFence: recordFence(ports),
    liftFence: liftFence(ports),
    tellInstances: tellInstances(ports),
    assessDeletedNode: assessDeletedNode(ports),
    observeEvacuation: observeEvacuation(ports),
    createEvacuation: createEvacuation(ports),
    tellBackoff: tellBackoff(ports),
    withdrawEvacuation: withdrawEvacuation(ports),
    cancelEvacuation: cancelEvacuation(ports),
    claimReplicas: claimReplicas(ports),
    createReplicas: createReplicas(ports),
    deleteReplicas: deleteReplicas(ports),
    publishReplicaSet: publishReplicaSet(ports),
    publishVirtualMachine: publishVirtualMachine(ports),
    releaseVirtualMachine: releaseVirtualMachine(ports),
    performTrigger: performTrigger(ports),
    observeTrigger: observeTrigger(ports),
  });
};
