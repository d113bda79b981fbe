import type { VirtualMachineReport } from '../../../api/contract/activities.ts';
import type { StateChangeRequest, VirtualMachine } from '../../../api/kubevirt/types.ts';
import { isTestFailed } from '../../kube/errors.ts';
import type { KubePort } from '../../kube/port.ts';
import { sameJson } from '../merge-patch.ts';
import { ifStillThere } from '../races.ts';

const PATH = '/status/stateChangeRequests';

/**
 * JSON patch that takes the settled requests off the head of the list. Each removal is tested first, so a request that came later is never lost;
 * requests that are off the list already are passed over.
 */
export const settleOperations = (
  queued: readonly StateChangeRequest[],
  settled: VirtualMachineReport['settledRequests'],
): object[] => {
  const operations: object[] = [];
  let head = 0;
  for (const request of settled) {
    const queuedRequest = queued[head];
    if (queuedRequest === undefined || !isSame(queuedRequest, request)) continue;
    operations.push({ op: 'test', path: `${PATH}/0`, value: queuedRequest }, { op: 'remove', path: `${PATH}/0` });
    head += 1;
  }
  return operations;
};

const isSame = (queued: StateChangeRequest, settled: { action: string; uid?: string }): boolean =>
  sameJson({ action: queued.action, uid: queued.uid }, settled);

/** Takes settled requests off the VM's list; the VM as it is afterwards, or undefined when the list changed meanwhile: read again. */
export const settleRequests = async (
  kube: KubePort,
  vm: VirtualMachine,
  settled: VirtualMachineReport['settledRequests'],
): Promise<VirtualMachine | undefined> => {
  const operations = settleOperations(vm.status?.stateChangeRequests ?? [], settled);
  if (operations.length === 0) return vm;
  const { namespace = '', name = '' } = vm.metadata ?? {};
  try {
    return await ifStillThere(
      kube.jsonPatch('VirtualMachine', { namespace, name }, operations, { subresource: 'status' }),
    );
  } catch (error) {
    if (!isTestFailed(error)) throw error;
    return undefined;
  }
};
