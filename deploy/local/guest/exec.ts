import { z } from 'zod';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { Context } from '../context.ts';
import { kubectl, listObjects, readObject } from '../kubectl.ts';
import { until } from '../wait.ts';

/** Socket of the launcher Pod's private libvirtd. */
export const LIBVIRT = 'qemu+unix:///session?socket=/var/run/libvirt/run/libvirt/libvirt-sock';
const COMMAND_SECONDS = 30;

const started = z.object({ return: z.object({ pid: z.number() }) });
const ended = z.object({
  return: z.object({
    exited: z.boolean(),
    exitcode: z.number().optional(),
    'out-data': z.string().optional(),
    'err-data': z.string().optional(),
  }),
});

/**
 * Runs a shell command inside a VM's guest, through its guest agent, and returns its output.
 * @throws Error when the VM has no running launcher Pod, the agent does not answer or the command fails
 */
export async function runInGuest(
  ctx: Context,
  vm: { namespace: string; name: string },
  script: string,
): Promise<string> {
  const ask = await agentOf(ctx, vm);
  const { pid } = started.parse(
    await ask({ execute: 'guest-exec', arguments: { path: '/bin/sh', arg: ['-c', script], 'capture-output': true } }),
  ).return;
  const result = await until(`the end of "${script}" in the guest of ${vm.name}`, COMMAND_SECONDS, async () => {
    const status = ended.parse(await ask({ execute: 'guest-exec-status', arguments: { pid } })).return;
    return status.exited ? status : undefined;
  });
  const text = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString();
  if (result.exitcode !== 0)
    throw new Error(`"${script}" in the guest of ${vm.name} failed: ${text(result['err-data'])}`);
  return text(result['out-data']);
}

async function agentOf(
  ctx: Context,
  { namespace, name }: { namespace: string; name: string },
): Promise<(command: object) => Promise<unknown>> {
  const node = (await readObject<VirtualMachineInstance>(ctx, 'vmi', namespace, name))?.status?.nodeName;
  const pods = await listObjects<Pod>(ctx, 'pod', namespace, `vm.kubevirt.io/name=${name}`);
  // After a migration the source's Pod may still be there.
  const pod = pods.find(({ spec, status }) => status?.phase === 'Running' && spec?.nodeName === node)?.metadata?.name;
  if (!pod) throw new Error(`${namespace}/${name} has no running launcher Pod`);
  const virsh = ['exec', '-n', namespace, pod, '-c', 'compute', '--', 'virsh', '-q', '-c', LIBVIRT];
  return async (command) =>
    JSON.parse(
      await kubectl(ctx, ...virsh, 'qemu-agent-command', `${namespace}_${name}`, JSON.stringify(command)),
    ) as unknown;
}
