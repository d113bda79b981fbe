import { join } from 'node:path';
import type { Pod } from '../../api/kubernetes/types.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { temporalUiUrl } from './cluster/addresses.ts';
import { clusterEnv } from './commands/env.ts';
import type { Context, Step } from './context.ts';
import { runInGuest } from './guest/exec.ts';
import { expectContinuity, sight, startCounting } from './demo-migration.ts';
import { kubectl, listObjects, readObject } from './kubectl.ts';
import { killInPod } from './pod-processes.ts';
import { run } from './shell.ts';
import { runSteps } from './steps.ts';
import { until } from './wait.ts';

const VM = { namespace: 'default', name: 'vm-demo' };
const MARKER = '/data/marker';

/** Seconds that a guest without KVM on a busy machine may take to boot, and to shut down. */
const BOOT_SECONDS = 240;
const SHUTDOWN_SECONDS = 180;

/** Runs virtflow's main job on the local cluster, step by step, and shows the history that it left in Temporal. */
export async function demo(ctx: Context): Promise<void> {
  await runSteps(steps(`written-${Date.now()}`));
  console.log(`\n$ virtflow history ${VM.name}\n`);
  console.log(await virtflow(ctx, 'history', VM.name));
  console.log(`
Everything is left running:
  eval "$(./dev env)"
  kubectl get vm,vmi,vmim,pods -o wide
  virtflow status ${VM.name}
  Temporal's UI: ${temporalUiUrl}/namespaces/virtflow/workflows
  ./dev down   takes it all down`);
}

const step = (title: string, action: (ctx: Context) => Promise<unknown>): Step => ({
  title,
  run: async (ctx) => void (await action(ctx)),
  remedy: `look at: ./dev status; virtflow status ${VM.name}; virtflow history ${VM.name}; kubectl -n virtflow logs deploy/virtflow-controller`,
});

const steps = (marker: string): readonly Step[] => [
  step('kubectl apply -f examples/vm.yaml', applyExample),
  step('The VM is Running and its guest agent connected', untilGuestReady),
  step(`Write ${MARKER} inside the guest (on a PVC) and sync it`, (ctx) =>
    runInGuest(ctx, VM, `echo ${marker} >${MARKER} && sync`),
  ),
  step('Start a counter in the memory of the guest', (ctx) => startCounting(ctx, VM)),
  step(`virtflow migrate ${VM.name}: to the other node, while it runs`, migrate),
  step(`virtflow stop ${VM.name}: the guest gets its grace period`, (ctx) => virtflow(ctx, 'stop', VM.name)),
  step('kill -9 of the controller worker while the shutdown is under way', killController),
  step('The guest has shut down cleanly, the VM is Stopped', untilStopped),
  step(`virtflow start ${VM.name}`, (ctx) => virtflow(ctx, 'start', VM.name)),
  step('The VM is Running again and its guest agent connected', untilGuestReady),
  step('The marker is there', (ctx) => expectMarker(ctx, marker)),
];

const virtflow = (ctx: Context, ...args: string[]): Promise<string> =>
  run(['virtflow', ...args, '-n', VM.namespace], { env: clusterEnv(ctx) });

/** A VM left by an earlier demo may be stopped: it is started, as its owner would. */
async function applyExample(ctx: Context): Promise<void> {
  await kubectl(ctx, 'apply', '-f', join(ctx.root, 'examples/local'), '-f', join(ctx.root, 'examples/vm.yaml'));
  await virtflow(ctx, 'start', VM.name);
}

async function untilGuestReady(ctx: Context): Promise<void> {
  await until(`${VM.name} Running with its guest agent`, BOOT_SECONDS, async () => {
    const vmi = await readObject<VirtualMachineInstance>(ctx, 'vmi', VM.namespace, VM.name);
    const agent =
      vmi?.status?.conditions?.some(({ type, status }) => type === 'AgentConnected' && status === 'True') ?? false;
    ctx.report(
      `phase ${vmi?.status?.phase ?? '-'}, node ${vmi?.status?.nodeName ?? '-'}, guest agent ${agent ? 'connected' : 'not connected yet'}`,
    );
    return vmi?.status?.phase === 'Running' && agent;
  });
}

async function migrate(ctx: Context): Promise<void> {
  const before = await sight(ctx, VM);
  await virtflow(ctx, 'migrate', VM.name);
  await expectContinuity(ctx, VM, before);
}

async function killController(ctx: Context): Promise<void> {
  await until('the shutdown to begin', SHUTDOWN_SECONDS, async () => (await statusOf(ctx)) === 'Stopping');
  const pods = await listObjects<Pod>(ctx, 'pod', 'virtflow', 'app.kubernetes.io/component=controller');
  let killed = 0;
  for (const { metadata } of pods) killed += await killInPod(metadata?.uid ?? '', /workers\/controller\/main\.ts/);
  if (killed === 0) throw new Error('no controller worker was found to kill');
  ctx.report(`killed ${killed} process${killed === 1 ? '' : 'es'}`);
}

async function untilStopped(ctx: Context): Promise<void> {
  await until(`${VM.name} Stopped`, SHUTDOWN_SECONDS, async () => {
    const status = await statusOf(ctx);
    ctx.report(`status ${status}`);
    return status === 'Stopped';
  });
}

const statusOf = async (ctx: Context): Promise<string> =>
  (await readObject<VirtualMachine>(ctx, 'vm', VM.namespace, VM.name))?.status?.printableStatus ?? 'unknown';

async function expectMarker(ctx: Context, marker: string): Promise<void> {
  const found = (await runInGuest(ctx, VM, `cat ${MARKER}`)).trim();
  if (found !== marker) throw new Error(`${MARKER} holds "${found}" instead of "${marker}"`);
}
