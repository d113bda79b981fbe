import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachine, VirtualMachineInstanceSpec } from '../../../api/kubevirt/types.ts';
import { COMMAND_SOCKET, LAUNCHER_VOLUMES } from '../../../api/launcher/paths.ts';
import { processesOfPod } from '../../../deploy/local/pod-processes.ts';
import { until } from '../../support/until.ts';
import { applyInstance, isAgentConnected, untilInstance } from '../support/instances.ts';
import { apply, getObject, kubectl, virtflow } from '../support/kubectl.ts';
import { emptyNamespace, ensureNamespace } from '../support/namespaces.ts';
import { launcherPod, SYSTEM_NAMESPACE, systemPods } from '../support/pods.ts';
import { PROCESSES } from '../faults/victims.ts';
import { qemuProcesses } from '../support/processes.ts';
import { condition, createClaim, guestSpec } from '../support/vms.ts';
import { workflowIds, workflowSize } from '../support/workflows.ts';

jest.setTimeout(300_000);

const NAMESPACE = 'virtflow-bad-input';
/** A whole start has 160 events; a workflow that tries in a loop without back-off has more than this within seconds. */
const MANY_EVENTS = 250;

interface Case {
  what: string;
  name: string;
  change: (spec: VirtualMachineInstanceSpec) => void;
  condition: string;
  /** A regular expression for the whole word. */
  reason: string;
  /** Texts that the message must hold: the field or object, and the remedy. */
  says: string[];
  /** As the template of a VM: what its printable status says. */
  vm?: string;
}

const virtio = { disk: { bus: 'virtio' } };
const withVolume = (volume: object) => (spec: VirtualMachineInstanceSpec) => {
  spec.domain.devices.disks = [{ name: 'x', ...virtio }];
  spec.volumes = [{ name: 'x', ...volume }];
};
const invalid = { condition: 'Synchronized', reason: 'InvalidSpec' };

const CASES: Case[] = [
  {
    what: 'no memory',
    name: 'no-memory',
    change: ({ domain }) => delete domain.memory,
    ...invalid,
    says: ['spec.domain.memory.guest', '512Mi'],
    vm: 'Starting',
  },
  {
    what: 'a container disk whose image does not exist',
    name: 'no-image',
    change: withVolume({
      containerDisk: { image: 'localhost/virtflow/no-such-disk:1', imagePullPolicy: 'IfNotPresent' },
    }),
    condition: 'Synchronized',
    reason: 'ErrImagePull|ImagePullBackOff',
    says: ['container volumex', 'localhost/virtflow/no-such-disk:1'],
    vm: 'ErrImagePull|ImagePullBackOff',
  },
  {
    what: 'a claim that does not exist',
    name: 'no-claim',
    change: withVolume({ persistentVolumeClaim: { claimName: 'nowhere' } }),
    condition: 'Synchronized',
    reason: 'FailedPvcNotFound',
    says: [`PersistentVolumeClaim ${NAMESPACE}/nowhere`, 'does not exist', 'Create it'],
    vm: 'ErrorPvcNotFound',
  },
  {
    what: 'a kernel that is not in its image',
    name: 'no-kernel',
    change: ({ domain }) => Object.assign(domain.firmware?.kernelBoot?.container ?? {}, { kernelPath: '/boot/none' }),
    condition: 'Synchronized',
    reason: 'ImageContent',
    says: ['spec.domain.firmware.kernelBoot.container.kernelPath', '/boot/none'],
  },
  {
    what: 'more memory than any node has',
    // As long as most: a name that is fine goes into labels and names of other objects.
    name: `huge-${'x'.repeat(90)}`,
    change: ({ domain }) => (domain.memory = { guest: '100Ti' }),
    condition: 'PodScheduled',
    reason: 'Unschedulable',
    says: ['Insufficient memory'],
    vm: 'ErrorUnschedulable',
  },
];

/** What admission refuses. Stored all the same, while nobody looked, it ends in a condition too. */
const UNASKED: Case[] = [
  {
    what: 'a disk without volume',
    name: 'no-volume',
    change: ({ domain }) => (domain.devices.disks = [{ name: 'lost', ...virtio }]),
    ...invalid,
    says: ['spec.domain.devices.disks[0].name', 'no volume is named "lost"', 'add it to spec.volumes'],
  },
  {
    what: 'cloud-init that is no base64',
    name: 'cloud-init-base64',
    change: withVolume({ cloudInitNoCloud: { userDataBase64: 'not base64!' } }),
    ...invalid,
    says: ['spec.volumes[0].cloudInitNoCloud.userDataBase64', 'no valid base64'],
  },
  {
    what: 'a name too long',
    name: 'n'.repeat(220),
    change: () => {},
    ...invalid,
    says: ['metadata.name', 'choose a shorter name'],
  },
];

const manifest = ({ name, vm }: Case, spec: VirtualMachineInstanceSpec): object => {
  const head = { apiVersion: 'kubevirt.io/v1', metadata: { name, namespace: NAMESPACE } };
  if (vm === undefined) return { ...head, kind: 'VirtualMachineInstance', spec };
  return { ...head, kind: 'VirtualMachine', spec: { runStrategy: 'Always', template: { spec } } };
};

/** Restarts of virtflow's own containers, and the QEMU that runs the healthy VM: what nothing here may change. */
const undisturbed = async (): Promise<object> => {
  const pods = [...(await systemPods('controller')), ...(await systemPods('node'))];
  const restarts = pods.map(
    ({ metadata, status }) => `${metadata?.name}: ${status?.containerStatuses?.[0]?.restartCount} restarts`,
  );
  return { restarts: restarts.sort(), qemu: await qemuProcesses(NAMESPACE, 'healthy') };
};

describe('a spec that cannot work ends in a condition that names field or object and the remedy', () => {
  const started = new Date();
  let before: object;

  beforeAll(async () => {
    await ensureNamespace(NAMESPACE);
    await emptyNamespace(NAMESPACE);
    await kubectl(['delete', `pvc/nowhere`, `pv/${NAMESPACE}-nowhere`, '-n', NAMESPACE, '--ignore-not-found']);
    await applyInstance(NAMESPACE, 'healthy', guestSpec());
    await untilInstance('ready', NAMESPACE, 'healthy', isAgentConnected);
    before = await undisturbed();
    for (const given of CASES) {
      const spec = guestSpec();
      given.change(spec);
      await apply(manifest(given, spec));
    }
  });
  afterAll(async () => void (await emptyNamespace(NAMESPACE)));

  test.each(CASES)('$what', async ({ name, condition: type, reason, says, vm }) => {
    const saysSo = (found: Parameters<typeof condition>[0]): boolean => {
      const { status, reason: given = '' } = condition(found, type) ?? {};
      return status === 'False' && new RegExp(`^(${reason})$`).test(given);
    };
    const vmi = await untilInstance(`condition ${type}, ${reason}`, NAMESPACE, name, saysSo, 60_000);
    const { message = '' } = condition(vmi, type) ?? {};
    for (const text of says) expect(message).toContain(text);
    if (vm === undefined) return;
    const owner = await until(
      `VM ${name} says so`,
      async () => {
        const read = await getObject<VirtualMachine>('vm', name, NAMESPACE);
        return saysSo(read) ? read : undefined;
      },
      { everyMs: 500 },
    );
    expect(owner.status?.printableStatus).toMatch(new RegExp(`^(${vm})$`));
  });

  test.each(UNASKED)('$what, stored while admission did not look', async (given) => {
    const spec = guestSpec();
    given.change(spec);
    // Nothing in virtflow's own namespace is asked.
    await applyInstance(SYSTEM_NAMESPACE, given.name, spec);
    try {
      const isTold = (vmi: Parameters<typeof condition>[0]) => condition(vmi, given.condition)?.reason === given.reason;
      const vmi = await untilInstance('told', SYSTEM_NAMESPACE, given.name, isTold, 60_000);
      for (const text of given.says) expect(condition(vmi, given.condition)?.message).toContain(text);
    } finally {
      await kubectl(['delete', 'vmi', given.name, '-n', SYSTEM_NAMESPACE, '--wait', '--timeout=60s']);
    }
  });

  test('none of them is tried endlessly', async () => {
    const ids = await workflowIds(`VmNamespace = "${NAMESPACE}" AND StartTime >= "${started.toISOString()}"`);
    const open = await Promise.all(ids.map(workflowSize));
    expect(ids.length).toBeGreaterThanOrEqual(CASES.length);
    expect(open.filter(({ events }) => events > MANY_EVENTS)).toEqual([]);
  });

  test('a claim that is created lets the start go on by itself', async () => {
    await createClaim('nowhere', '16Mi', NAMESPACE);
    const vmi = await untilInstance('ready', NAMESPACE, 'no-claim', isAgentConnected);
    expect(condition(vmi, 'Synchronized')).toBeUndefined();
  });

  test('a VM whose template is corrected starts after virtflow restart', async () => {
    const template = { spec: { domain: { memory: { guest: '128Mi' } } } };
    const patch = JSON.stringify({ spec: { template } });
    await kubectl(['patch', 'vm', 'no-memory', '-n', NAMESPACE, '--type=merge', '-p', patch]);
    await virtflow(['restart', 'no-memory', '-n', NAMESPACE, '--wait']);
  });

  test('garbage on a command socket is refused, and logged once', async () => {
    const vmi = await untilInstance('ready', NAMESPACE, 'healthy', isAgentConnected, 1000);
    const pod = await launcherPod(vmi.metadata?.uid ?? '', NAMESPACE);
    const socket = await commandSocketOf(pod);
    for (const garbage of ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', '\0\xff\x16garbage', 'PRI * HTTP/2.0 almost'])
      await closedBy(socket, garbage);
    const log = await kubectl(['logs', pod.metadata?.name ?? '', '-n', NAMESPACE, '-c', 'compute']);
    expect(log.split('\n').filter((line) => line.includes('does not speak HTTP/2'))).toHaveLength(1);
  });

  test('nothing else was disturbed', async () => {
    expect(await undisturbed()).toEqual(before);
    await untilInstance('still ready', NAMESPACE, 'healthy', isAgentConnected, 1000);
  });
});

/** The launcher's command socket, by way of one of its processes. */
async function commandSocketOf(pod: Pod): Promise<string> {
  const [one] = (await processesOfPod(pod.metadata?.uid ?? '')).filter(({ command }) =>
    PROCESSES.launcher.test(command),
  );
  // /var/run is an absolute link, which would lead out of the container.
  return `/proc/${one?.pid}/root${LAUNCHER_VOLUMES.sockets.path.replace('/var/run', '/run')}/${COMMAND_SOCKET}`;
}

/** Sends the text and waits until the other side closes. */
async function closedBy(path: string, text: string): Promise<void> {
  const socket = connect(path);
  socket.resume();
  socket.write(text, 'latin1');
  await once(socket, 'close', { signal: AbortSignal.timeout(15_000) });
}
