import type { ControllerActivities, SettledRequest, VirtualMachineReport } from '../../../api/contract/activities.ts';
import type { VirtualMachineFacts } from '../../../api/contract/facts.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { instanceFacts } from '../../facts/instance.ts';
import { virtualMachineFacts } from '../../facts/virtual-machine.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ControllerPorts } from '../ports.ts';
import { fromCacheFirst, ifStillThere } from '../races.ts';
import { recordEvent } from '../record-event.ts';
import { claimsOf } from '../volumes/claims.ts';
import { dataVolumesOf, dataVolumeState } from './data-volumes.ts';
import { followTemplate } from './follow-template.ts';
import { observeReferences } from './instance-types.ts';
import { findOwnedInstance, findVirtualMachine } from './read.ts';
import type { Observed } from './vm-status.ts';
import { remainingRequests, virtualMachinePatch } from './vm-status.ts';

type Ports = Pick<ControllerPorts, 'kube' | 'clock' | 'config' | 'log' | 'cached'>;

/** VM and instance as somebody has just seen them. */
interface Known {
  vm: VirtualMachine;
  vmi: VirtualMachineInstance;
}

/**
 * Brings the VM's status to what entity and VMI say, and takes settled requests off its list, in one write; only what differs is written. A request
 * that comes at the same moment makes it read again.
 */
export const publishVirtualMachine = (ports: Ports): ControllerActivities['publishVirtualMachine'] => {
  const write = statusWriter(ports);
  return (request) => write(request);
};

/** The same, for a caller that may know both objects: they are not read again then, unless somebody has written since. */
export const statusWriter =
  (ports: Ports) =>
  async (
    { vm: ref, report }: { vm: ObjectRef; report: VirtualMachineReport },
    seen: Known | undefined = newEnough(ports, ref, report),
  ): Promise<VirtualMachineFacts | undefined> =>
    fromCacheFirst(seen, async (known) => {
      const { kube, clock } = ports;
      const [vm, vmi] = await Promise.all([
        known?.vm ?? findVirtualMachine(kube, ref),
        known?.vmi ?? findOwnedInstance(kube, ref),
      ]);
      if (vm === undefined) return { wrote: false, value: undefined };
      const patch = virtualMachinePatch(vm, await observe(ports, vm, vmi), report, clock().toISOString());
      if (patch === undefined) return { wrote: false, value: virtualMachineFacts(vm) };
      const metadata = { uid: vm.metadata?.uid, resourceVersion: vm.metadata?.resourceVersion };
      const written = await ifStillThere(
        kube.mergePatch('VirtualMachine', ref, { ...patch, metadata }, { subresource: 'status' }),
      );
      tellOutcomes(ports, ref, vm, report);
      return { wrote: true, value: written === undefined ? undefined : virtualMachineFacts(written) };
    });

/** VM and instance as watches have shown them, if neither is older than what the entity speaks of. Whether there is an instance only a live read tells. */
const newEnough = (
  { cached }: Ports,
  ref: ObjectRef,
  { instance: uid, instanceVersion, generation }: VirtualMachineReport,
): Known | undefined => {
  if (uid === undefined || instanceVersion === undefined) return undefined;
  const vm = cached?.('VirtualMachine', ref.uid);
  const vmi = cached?.('VirtualMachineInstance', uid);
  if (vm === undefined || vmi === undefined || instanceFacts(vmi).owner?.uid !== ref.uid) return undefined;
  const isKnown =
    (vm.metadata?.generation ?? 0) >= generation &&
    Number(vmi.metadata?.resourceVersion) >= Number(instanceVersion) &&
    vmi.metadata?.deletionTimestamp === undefined;
  return isKnown ? { vm, vmi } : undefined;
};

/** A running guest has its volumes: they are looked at only before. */
const observe = async (
  { kube, config }: Ports,
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
): Promise<Observed> => {
  const { vm: kept, observed: references } = await observeReferences(kube, vm);
  // Nothing of a VM that is being deleted comes to its instance any more.
  const follows = vmi !== undefined && vm.metadata?.deletionTimestamp === undefined;
  const followed = follows ? await followTemplate(kube, kept, vmi, config()) : undefined;
  if (vmi?.status?.phase === 'Running') return { vmi, claimUnbound: false, followed, references };
  const [claimUnbound, dataVolumes] = await Promise.all([someClaimUnbound(kube, vm), dataVolumesOf(kube, vm)]);
  return { vmi, claimUnbound, dataVolumes: dataVolumeState(dataVolumes), followed, references };
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

const REASONS = { served: 'RequestServed', obsolete: 'RequestObsolete', refused: 'RequestRefused' } as const;

/** Each request's outcome, once it is off the list: for who asked, in `kubectl describe`. */
const tellOutcomes = (ports: Ports, ref: ObjectRef, before: VirtualMachine, report: VirtualMachineReport): void => {
  const left = remainingRequests(before, report);
  if (left === undefined) return;
  const count = (before.status?.stateChangeRequests?.length ?? 0) - left.length;
  for (const request of report.settledRequests.slice(-count)) {
    const told = { kind: 'VirtualMachine', ref, reason: REASONS[request.outcome], message: wordsOf(request) } as const;
    void recordEvent(ports, { ...told, isWarning: request.outcome === 'refused' });
  }
};

const wordsOf = ({ action, uid, outcome, message }: SettledRequest): string =>
  `Request ${action}${uid === undefined ? '' : ` of instance ${uid}`} ${outcome === 'served' ? 'is served' : `is ${outcome}`}: ${message}`;
