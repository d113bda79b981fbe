import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { Context } from './context.ts';
import { runInGuest } from './guest/exec.ts';
import { readObject } from './kubectl.ts';

type Vm = { namespace: string; name: string };

/** File in the guest's memory that its counter writes to: "<boot id> <value>", a line every 10 ms. */
const COUNT = '/tmp/count';

/** Where a guest is and what it can tell of its own life. */
export interface Sighting {
  node: string;
  boot: string;
  /** Last value of its counter. */
  count: number;
}

/** Starts the guest's counter. */
export const startCounting = (ctx: Context, vm: Vm): Promise<string> =>
  runInGuest(ctx, vm, `touch ${COUNT}; setsid counter ${COUNT} </dev/null >/dev/null 2>&1 &`);

export async function sight(ctx: Context, vm: Vm): Promise<Sighting> {
  const vmi = await readObject<VirtualMachineInstance>(ctx, 'vmi', vm.namespace, vm.name);
  const [boot = '', count = ''] = (await runInGuest(ctx, vm, `tail -n 2 ${COUNT} | head -n 1`)).trim().split(' ');
  return { node: vmi?.status?.nodeName ?? '', boot, count: Number(count) };
}

/**
 * Looks whether the guest went on elsewhere as if nothing had happened: same boot, and its counter left no value out.
 * @throws Error saying what was interrupted
 */
export async function expectContinuity(ctx: Context, vm: Vm, before: Sighting): Promise<void> {
  const after = await sight(ctx, vm);
  if (after.node === before.node) throw new Error(`${vm.name} is still on ${before.node}`);
  if (after.boot !== before.boot) throw new Error(`the guest was booted again: ${before.boot}, then ${after.boot}`);
  if (after.count <= before.count) throw new Error(`the counter stands at ${after.count} after ${before.count}`);
  const gaps = `awk 'NR > 1 && $2 != last + 1 { gaps++ } { last = $2 } END { print gaps + 0 }' ${COUNT}`;
  const interrupted = Number((await runInGuest(ctx, vm, gaps)).trim());
  if (interrupted > 0) throw new Error(`the counter was interrupted ${interrupted} times`);
  ctx.report(
    `from ${before.node} to ${after.node}; boot ${after.boot}; counter from ${before.count} to ${after.count}, none left out`,
  );
}
