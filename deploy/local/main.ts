import { join } from 'node:path';
import { Argument, Command } from 'commander';
import { allProcesses } from './cluster/cluster.ts';
import { bridgeIsThere } from './cluster/network.ts';
import { cleanCacheStep, cleanStep, downSteps } from './commands/down.ts';
import { apart, bench, benchApart } from './commands/bench.ts';
import { clusterEnv, exports } from './commands/env.ts';
import { clusterStatus, renderStatus } from './commands/status.ts';
import { runSections, sections } from './commands/test.ts';
import type { Section } from './commands/test.ts';
import { summary } from './commands/test-counts.ts';
import { benchApartSteps, benchSteps, testSteps, upSteps } from './commands/up.ts';
import { createContext } from './context.ts';
import { ensureRunning } from './process.ts';
import { runSteps } from './steps.ts';

const ctx = createContext();

/** As they are given, to be passed on. */
interface BenchOptions extends Partial<Record<'rounds' | 'vms' | 'rate' | 'nodes' | 'minutes', string>> {
  output: string;
  real?: true;
}

const program = new Command('dev')
  .description('virtflow on this machine: a Kubernetes with two nodes, Temporal, the tests')
  .showHelpAfterError('(try ./dev --help)')
  .addHelpText(
    'after',
    `
Examples:
  ./dev demo               everything: set up, deploy, boot a VM, migrate it and shut it down
  eval "$(./dev env)"      then kubectl, temporal and virtflow act on this cluster
  ./dev test unit replay   only these tests
  ./dev down               stop; ./dev up goes on with the same data, ./dev clean forgets it

Downloads and builds are kept in $XDG_CACHE_HOME/virtflow (${ctx.cacheDir}), the cluster's data in
$XDG_STATE_HOME/virtflow (${ctx.stateDir}).`,
  );
program
  .command('up')
  .description('set up what is missing and start the cluster and Temporal; a second time starts only what is down')
  .action(async () => {
    await runSteps(upSteps);
    console.log('\nThe cluster is up. To use it from this shell:  eval "$(./dev env)"');
  });

program
  .command('down')
  .description('end everything that runs and remove its namespaces, mounts, bridge and cgroups; data stays')
  .action(() => runSteps(downSteps));

program
  .command('status')
  .description('show each process and node')
  .option('-o, --output <format>', 'table or json', 'table')
  .action(async ({ output }: { output: string }) => {
    const status = await clusterStatus(ctx);
    console.log(output === 'json' ? JSON.stringify(status, null, 2) : renderStatus(status));
  });

program
  .command('start')
  .description('start one process again that has ended, for example temporal or node-a/kubelet')
  .argument('<process>', 'its name in ./dev status')
  .action(async (name: string) => {
    const processes = await allProcesses(ctx);
    const spec = processes.find((one) => one.name.replace('/system/', '/').replace('control-plane/', '') === name);
    if (!spec) return program.error(`error: no process is called ${name}: see ./dev status`);
    await ensureRunning(ctx, spec);
  });

program
  .command('clean')
  .description("down, and delete the cluster's data")
  .option('--cache', 'delete also what was downloaded and built')
  .action(({ cache }: { cache?: boolean }) => runSteps([...downSteps, cleanStep, ...(cache ? [cleanCacheStep] : [])]));

program
  .command('env')
  .description('print KUBECONFIG, TEMPORAL_ADDRESS and PATH for a shell: eval "$(./dev env)"')
  .action(() => {
    console.log(exports(ctx));
    // Without the bridge these addresses are somebody else's, by the default route.
    if (!bridgeIsThere()) console.error('virtflow: the cluster is down, its addresses lead nowhere: run ./dev up');
  });

program
  .command('test')
  .description('set up what is missing and run the tests; ends with `N passed, N failed`')
  .addArgument(new Argument('[sections...]', 'only these sections').choices(sections))
  .action(async (chosen: Section[]) => {
    const asked = chosen.length > 0 ? chosen : sections;
    await runSteps(testSteps(asked));
    const counts = await runSections(ctx, asked, { ...process.env, ...clusterEnv(ctx) });
    console.log(`\n${summary(counts)}`);
    process.exitCode = counts.failed > 0 ? 1 : 0;
  });

program
  .command('demo')
  .description('set up what is missing, deploy virtflow and show a VM boot, migrate and shut down')
  .action(async () => {
    await runSteps(upSteps);
    const { demo } = (await import(join(import.meta.dirname, 'demo.ts'))) as {
      demo: (context: typeof ctx) => Promise<void>;
    };
    await demo(ctx);
  });

program
  .command('bench')
  .description(
    'set up what is missing, deploy virtflow and measure it, as ratios to plain Kubernetes and libvirt; artifacts/bench.json',
  )
  .argument('[parts...]', 'only these: start, migration, idle, admission, memory; or one of density, soak')
  .option('--rounds <n>', 'how often each is taken')
  .option('--vms <n>', 'density: how many VMs')
  .option('--rate <n>', 'density: VMs per second, or burst')
  .option('--nodes <n>', 'density, soak: how many nodes KWOK plays')
  .option('--minutes <n>', 'soak: how long')
  .option('--real', 'soak: real guests on this cluster instead')
  .option('-o, --output <format>', 'table or json', 'table')
  .action(async (parts: string[], { rounds, output, ...others }: BenchOptions) => {
    const alone = apart.find((part) => parts.length === 1 && parts[0] === part);
    if (alone !== undefined) {
      await runSteps(others.real === true ? benchSteps : benchApartSteps, output === 'json' ? 'error' : 'output');
      const given = Object.entries(others).flatMap(([name, value]) =>
        value === true ? [`--${name}`] : [`--${name}`, value],
      );
      process.exitCode = await benchApart(ctx, alone, [...given, '--output', output]);
      return;
    }
    await runSteps(benchSteps, output === 'json' ? 'error' : 'output');
    process.exitCode = await bench(ctx, [...parts, ...(rounds ? ['--rounds', rounds] : []), '--output', output]);
  });

try {
  await program.parseAsync();
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
