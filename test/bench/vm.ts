import type { VirtualMachine, VirtualMachineInstanceMigration } from '../../api/kubevirt/types.ts';
import { KUBEVIRT_API_VERSION } from '../../api/kubevirt/types.ts';
import { kubectl } from '../e2e/support/kubectl.ts';
import { isFinal } from '../e2e/support/migrations.ts';
import { launcherPod } from '../e2e/support/pods.ts';
import { condition, getVmi, guestSpec, NAMESPACE } from '../e2e/support/vms.ts';
import { timeFromCreation } from './timed.ts';

const LIBVIRT = 'qemu+unix:///session?socket=/var/run/libvirt/run/libvirt/libvirt-sock';

/** The VM of the benchmarks: a shared claim of its name, masquerade, and a counter on its serial console. */
const benchVm = (name: string): VirtualMachine => ({
  apiVersion: KUBEVIRT_API_VERSION,
  kind: 'VirtualMachine',
  metadata: { name, namespace: NAMESPACE },
  spec: { runStrategy: 'Always', template: { spec: guestSpec({ claim: name, network: true, counter: true }) } },
});

/** Times of one VM's start, in ms. */
export interface StartTimes {
  /** From the VMI's creation, as a watch heard of it, to Running. */
  running: number;
  /** From the VM's creation to Running, and to the agent connected. */
  vmRunning: number;
  agent: number;
  /** Ms since 1970. */
  runningAt: number;
}

/** Creates the VM of the benchmarks and waits until its agent is connected. */
export async function timeStart(name: string): Promise<StartTimes> {
  const [created, running, agent] = await timeFromCreation<'VirtualMachine', 'VirtualMachineInstance'>(
    'VirtualMachine',
    benchVm(name),
    [
      { kind: 'VirtualMachineInstance', what: 'created', holds: () => true },
      { kind: 'VirtualMachineInstance', what: 'Running', holds: ({ status }) => status?.phase === 'Running' },
      {
        kind: 'VirtualMachineInstance',
        what: 'agent connected',
        holds: (vmi) => condition(vmi, 'AgentConnected')?.status === 'True',
      },
    ],
  );
  const runningAt = running?.at ?? NaN;
  return {
    running: runningAt - (created?.at ?? NaN),
    vmRunning: running?.ms ?? NaN,
    agent: agent?.ms ?? NaN,
    runningAt,
  };
}

/** From the creation of a VMIM to its success; ms. @throws Error when it fails */
export async function timeMigration(name: string, vmiName: string): Promise<number> {
  const migration: VirtualMachineInstanceMigration = {
    apiVersion: KUBEVIRT_API_VERSION,
    kind: 'VirtualMachineInstanceMigration',
    metadata: { name, namespace: NAMESPACE },
    spec: { vmiName },
  };
  let end: VirtualMachineInstanceMigration | undefined;
  const [over] = await timeFromCreation<'VirtualMachineInstanceMigration', 'VirtualMachineInstanceMigration'>(
    'VirtualMachineInstanceMigration',
    migration,
    [
      {
        kind: 'VirtualMachineInstanceMigration',
        what: 'over',
        holds: (object) => (isFinal(object) ? ((end = object), true) : false),
      },
    ],
  );
  if (end?.status?.phase === 'Succeeded') return over?.ms ?? NaN;
  throw new Error(`migration ${name} of ${vmiName} failed: ${JSON.stringify(end?.status)}`);
}

/** Definition of the running domain, as the launcher's libvirt has it. */
export async function domainXml(name: string): Promise<string> {
  const pod = (await launcherPod((await getVmi(name))?.metadata?.uid ?? '')).metadata?.name ?? '';
  const virsh = ['exec', '-n', NAMESPACE, pod, '-c', 'compute', '--', 'virsh', '-q', '-c', LIBVIRT];
  return kubectl([...virsh, 'dumpxml', '--inactive', `${NAMESPACE}_${name}`]);
}
