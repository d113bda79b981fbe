import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import type { KubePort } from '../../kube/port.ts';
import { claimsOf } from '../volumes/claims.ts';
import type { ControllerPorts } from '../ports.ts';
import { ifStillThere, onConflictAgain } from '../races.ts';
import { findOwnedInstance, findVirtualMachine } from './read.ts';
import { settleRequests } from './settle-requests.ts';
import { virtualMachinePatch } from './vm-status.ts';

/** Takes settled requests off the VM's list and brings its status to what entity and VMI say; writes only what differs. */
export const publishVirtualMachine =
  ({ kube, clock }: Pick<ControllerPorts, 'kube' | 'clock'>): ControllerActivities['publishVirtualMachine'] =>
  async ({ vm: ref, report }) => {
    await onConflictAgain(async () => {
      const read = await findVirtualMachine(kube, ref);
      if (read === undefined) return;
      const vm = (await settleRequests(kube, read, report.settledRequests)) ?? (await findVirtualMachine(kube, ref));
      if (vm === undefined) return;
      const vmi = await findOwnedInstance(kube, ref);
      const claimUnbound = vmi?.status?.phase !== 'Running' && (await someClaimUnbound(kube, vm));
      const patch = virtualMachinePatch(vm, vmi, report, claimUnbound, clock().toISOString());
      if (patch === undefined) return;
      const metadata = { uid: vm.metadata?.uid, resourceVersion: vm.metadata?.resourceVersion };
      await ifStillThere(kube.mergePatch('VirtualMachine', ref, { ...patch, metadata }, { subresource: 'status' }));
    });
  };

const someClaimUnbound = async (kube: KubePort, vm: VirtualMachine): Promise<boolean> => {
  const namespace = vm.metadata?.namespace ?? '';
  // The type says that there is a template; an object of the API server need not keep to it.
  const { template } = vm.spec as Partial<VirtualMachine['spec']>;
  const uses = claimsOf({ spec: template?.spec ?? { domain: { devices: {} } } });
  const claims = await Promise.all(
    uses.map(({ claim }) => kube.get('PersistentVolumeClaim', { namespace, name: claim })),
  );
  return claims.some((claim) => claim !== undefined && claim.status?.phase !== 'Bound');
};
