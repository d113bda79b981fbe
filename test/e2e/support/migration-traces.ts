import { readdir } from 'node:fs/promises';
import { execa } from 'execa';
import type { SchedulerStatus } from '../../../api/contract/migrations.ts';
import { MIGRATION_SCHEDULER_ID, schedulerStatus } from '../../../api/contract/migrations.ts';
import { nodes } from '../../../deploy/local/cluster/addresses.ts';
import { until } from '../../support/until.ts';
import { migrationLeftovers } from './migrations.ts';
import { nodeVar } from './nodes.ts';
import { launcherPods } from './pods.ts';
import { getVmi } from './vms.ts';

/** All that migrations which are over must not leave behind: of a VM that runs on, and on nodes and in the scheduler in general. */
export async function traces(vm: string): Promise<string[]> {
  const ofVm = await migrationLeftovers(vm);
  return [...ofVm, ...(await sockets(vm)), ...(await sessions()), ...(await permits())];
}

/** Waits until there are none. @throws Error naming them */
export async function untilTraceless(vm: string, timeoutMs = 90_000): Promise<void> {
  let left: string[] = [];
  const isClean = async (): Promise<boolean> => {
    left = await traces(vm).catch((error: unknown) => [String(error)]);
    return left.length === 0;
  };
  await until('no trace of migrations', isClean, { timeoutMs, everyMs: 500 }).catch((error: unknown) => {
    throw new Error(`migrations of VM ${vm} have left: ${left.join('; ')}`, { cause: error });
  });
}

/** Sockets of the proxy, and those of libvirt and QEMU behind it, in the Pods that are left. */
async function sockets(vm: string): Promise<string[]> {
  const pods = await launcherPods((await getVmi(vm))?.metadata?.uid ?? '');
  const found = await Promise.all(
    pods.map(async ({ metadata, spec }) => {
      const volume = `lib/kubelet/pods/${metadata?.uid}/volumes/kubernetes.io~empty-dir/sockets`;
      const files = await readdir(nodeVar(spec?.nodeName ?? '', volume));
      return files.filter((file) => file.startsWith('mig-')).map((file) => `${file} in Pod ${metadata?.name}`);
    }),
  );
  return found.flat();
}

/** What node workers remember of migrations. */
async function sessions(): Promise<string[]> {
  const found = await Promise.all(
    nodes.map(async ({ name }) => {
      const files = await readdir(nodeVar(name, 'lib/virtflow/migrations')).catch(() => []);
      return files.map((file) => `session ${file} on ${name}`);
    }),
  );
  return found.flat();
}

/** What the scheduler believes; `temporal` prints an empty list as null. Never begun: undefined. */
async function schedulerSays(): Promise<Nullable<SchedulerStatus> | undefined> {
  const args = ['workflow', 'query', '--workflow-id', MIGRATION_SCHEDULER_ID, '--type', schedulerStatus.name];
  const { failed, stdout, stderr } = await execa('temporal', [...args, '-o', 'json'], { reject: false });
  if (!failed) return queryResult<Nullable<SchedulerStatus>>(stdout);
  if (/not ?found/i.test(stderr)) return undefined;
  throw new Error(`the scheduler of migrations does not answer: ${stderr}`);
}

type Nullable<T> = { [K in keyof T]: T[K] | null };

/** Answer of a query, from what `temporal workflow query -o json` prints. */
const queryResult = <T>(printed: string): T | undefined =>
  (JSON.parse(printed) as { queryResult?: T[] }).queryResult?.[0];

async function permits(): Promise<string[]> {
  const { holding, waiting } = (await schedulerSays()) ?? {};
  return [
    ...(holding ?? []).map(({ holder }) => `a permit of ${holder}`),
    ...(waiting ?? []).map(({ holder }) => `${holder} waits for a permit`),
  ];
}
