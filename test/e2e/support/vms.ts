import { TEST_GUEST } from '../../../deploy/local/images.ts';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from '../../../api/kubevirt/types.ts';
import { apply, getObject, kubectl } from './kubectl.ts';
import { until } from '../../support/until.ts';

export const NAMESPACE = 'virtflow-e2e';

/** Where hostPath volumes of the tests live: one directory that both nodes see. */
export const SHARED_DIRECTORY = '/var/lib/virtflow-shared';

/** Kernel arguments that halve the boot's work without KVM, and the counter that the recorder reads. */
const KERNEL_ARGS =
  'console=ttyS0 quiet nokaslr cryptomgr.notests mitigations=off lpj=4000000 tsc=reliable no_timer_check random.trust_cpu=on';

export interface GuestOptions {
  /** Prints (boot id, counter) to the serial console. */
  counter?: boolean;
  /** Ignores power button and agent shutdown. */
  ignoresShutdown?: boolean;
  gracePeriodSeconds?: number;
  /** Claim in filesystem mode, as the first disk. */
  claim?: string;
  network?: boolean;
  /** Changes to the spec, after all else. */
  change?: (spec: VirtualMachineInstanceSpec) => void;
}

/** Spec of a VMI with the test guest. */
export function guestSpec(options: GuestOptions = {}): VirtualMachineInstanceSpec {
  const args = [
    KERNEL_ARGS,
    ...(options.counter ? ['counter=ttyS0'] : []),
    ...(options.ignoresShutdown ? ['ignore-shutdown'] : []),
  ];
  const spec: VirtualMachineInstanceSpec = {
    terminationGracePeriodSeconds: options.gracePeriodSeconds ?? 30,
    domain: {
      memory: { guest: '128Mi' },
      firmware: {
        kernelBoot: {
          kernelArgs: args.join(' '),
          container: {
            image: TEST_GUEST,
            imagePullPolicy: 'IfNotPresent',
            kernelPath: '/boot/vmlinuz',
            initrdPath: '/boot/initrd',
          },
        },
      },
      devices: {
        autoattachGraphicsDevice: false,
        disks: [],
        ...(options.network
          ? { interfaces: [{ name: 'default', masquerade: {} }] }
          : { autoattachPodInterface: false }),
      },
    },
    ...(options.network && { networks: [{ name: 'default', pod: {} }] }),
    volumes: [],
  };
  if (options.claim) {
    spec.domain.devices.disks?.push({ name: 'data', disk: { bus: 'virtio' } });
    spec.volumes?.push({ name: 'data', persistentVolumeClaim: { claimName: options.claim } });
  }
  options.change?.(spec);
  return spec;
}

export async function createVm(name: string, options: GuestOptions & { runStrategy?: string } = {}): Promise<void> {
  await apply({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name, namespace: NAMESPACE },
    spec: { runStrategy: options.runStrategy ?? 'Always', template: { spec: guestSpec(options) } },
  });
}

export const getVm = (name: string): Promise<VirtualMachine | undefined> => getObject('vm', name, NAMESPACE);
export const getVmi = (name: string): Promise<VirtualMachineInstance | undefined> => getObject('vmi', name, NAMESPACE);

export const condition = (
  object: VirtualMachineInstance | VirtualMachine | undefined,
  type: string,
): { status: string; reason?: string; message?: string } | undefined =>
  object?.status?.conditions?.find((c) => c.type === type);

/** Waits until `holds` of an object, and returns it. While it cannot be read it is read again; what was seen last is told when it is late. */
export async function untilObject<T extends { status?: object }>(
  what: string,
  read: () => Promise<T | undefined>,
  holds: (object: T) => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<T> {
  let seen: unknown = 'nothing';
  const look = async (): Promise<T | undefined> => {
    try {
      const object = await read();
      seen = object === undefined ? 'it is not there' : (object.status ?? 'it has no status');
      return object !== undefined && (await holds(object)) ? object : undefined;
    } catch (error) {
      seen = String(error);
      return undefined;
    }
  };
  return until(what, look, { timeoutMs, everyMs: 500, seen: () => seen });
}

export const isAgentConnected = (vmi: VirtualMachineInstance): boolean =>
  vmi.status?.phase === 'Running' && condition(vmi, 'AgentConnected')?.status === 'True';

/** Waits until the VMI runs and its agent answers; returns it. */
export const untilReady = (name: string, timeoutMs = 240_000): Promise<VirtualMachineInstance> =>
  untilObject(`VMI ${name} Running with its agent connected`, () => getVmi(name), isAgentConnected, timeoutMs);

export const untilRunning = (name: string, timeoutMs = 240_000): Promise<VirtualMachineInstance> =>
  untilObject(
    `VMI ${name} Running`,
    () => getVmi(name),
    ({ status }) => status?.phase === 'Running',
    timeoutMs,
  );

/** Waits until the VM shows Stopped and has no VMI. */
export const untilStopped = (name: string, timeoutMs = 240_000): Promise<VirtualMachine> => {
  const isStopped = async ({ status }: VirtualMachine): Promise<boolean> =>
    status?.printableStatus === 'Stopped' && (await getVmi(name)) === undefined;
  return untilObject(`VM ${name} Stopped`, () => getVm(name), isStopped, timeoutMs);
};

export const setRunStrategy = (name: string, runStrategy: string): Promise<string> =>
  kubectl(['patch', 'vm', name, '-n', NAMESPACE, '--type=merge', '-p', JSON.stringify({ spec: { runStrategy } })]);

/** Deletes a VM and waits until VM and VMI are gone. */
export const deleteVm = (name: string): Promise<string> =>
  kubectl(['delete', 'vm', name, '-n', NAMESPACE, '--ignore-not-found', '--wait', '--timeout=180s']);

/** Where a claim's volume lies below the directory that both nodes share. */
export const claimDirectory = (name: string, namespace = NAMESPACE): string => `${namespace}-${name}`;

/** A claim with its own hostPath volume, in the directory that both nodes share. */
export async function createClaim(
  name: string,
  size = '64Mi',
  namespace = NAMESPACE,
  accessMode = 'ReadWriteMany',
): Promise<void> {
  const volume = claimDirectory(name, namespace);
  await apply({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volume },
    spec: {
      capacity: { storage: size },
      accessModes: [accessMode],
      storageClassName: '',
      claimRef: { namespace, name },
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path: `${SHARED_DIRECTORY}/${volume}`, type: 'DirectoryOrCreate' },
    },
  });
  await freeVolume(volume);
  await apply({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace },
    spec: {
      accessModes: [accessMode],
      storageClassName: '',
      volumeName: volume,
      resources: { requests: { storage: size } },
    },
  });
}

/** A volume whose claim was deleted belongs to that claim's uid until somebody says otherwise. */
async function freeVolume(name: string): Promise<void> {
  const phase = await kubectl(['get', 'pv', name, '-o', 'jsonpath={.status.phase}']);
  if (phase !== 'Released') return;
  const claimRef = { uid: null, resourceVersion: null };
  await kubectl(['patch', 'pv', name, '--type=merge', '-p', JSON.stringify({ spec: { claimRef } })]);
}
