import Table from 'cli-table3';
import type { Command } from 'commander';
import { tokenName } from '../../api/contract/refs.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { TABLE_STYLE } from '../display.ts';
import { isOver, migrationsOf, phaseOf, sinceCreationOf, type Migration } from '../migration/objects.ts';
import { stateOf } from '../migration/summary.ts';
import { outputOption, vmCommand, type Output } from '../options.ts';
import { findGuest, runStrategyOf, talking } from '../virtual-machine.ts';

/** `virtflow status`: where a VM stands, from its Kubernetes objects only (so that it works while Temporal is down). */
export const statusCommand = (): Command =>
  vmCommand('status', 'where a VM stands: status, phase, node, guest agent, migration, conditions')
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  virtflow status web-1            where it stands
  virtflow status web-1 -o json    the same for programs

Read from Kubernetes only, so it works while Temporal is down. Something is wrong? virtflow diagnose web-1 says what and what to do.`,
    )
    .action(async (name: string, options: { namespace: string; output: Output }) => {
      const { kube, name: key, vm, vmi } = await findGuest(name, options);
      const [token, migrations] = await talking(`reading run token and migrations of ${name}`, () =>
        Promise.all([
          kube.get('Lease', { namespace: options.namespace, name: tokenName({ name }) }),
          migrationsOf(kube, key),
        ]),
      );
      const status = summarize(vm, vmi, token?.spec?.holderIdentity, migrations);
      console.log(options.output === 'json' ? JSON.stringify(status, null, 2) : renderStatus(status));
    });

export interface VmStatusView {
  name: string;
  namespace: string;
  /** Absent for an instance without a VM. */
  runStrategy?: string;
  status: string;
  phase?: string;
  node?: string;
  addresses: string[];
  agent: 'connected' | 'not connected';
  guest?: string;
  tokenHolder?: string;
  /** Absent: not known (yet). */
  migratable?: { yes: boolean; why: string };
  /** The migration under way, or the last one of this instance. */
  migration?: { name: string; phase: string; source?: string; target?: string; failure?: string };
  conditions: { type: string; status: string; reason: string; message: string }[];
}

/** Pure: the view of a VM's objects. */
export function summarize(
  vm: VirtualMachine | undefined,
  vmi: VirtualMachineInstance | undefined,
  tokenHolder: string | undefined,
  migrations: readonly Migration[] = [],
): VmStatusView {
  const conditions = [...(vm?.status?.conditions ?? []), ...(vmi?.status?.conditions ?? [])];
  const byType = new Map(
    conditions.map((c) => [
      c.type,
      { type: c.type, status: c.status, reason: c.reason ?? '', message: c.message ?? '' },
    ]),
  );
  const { phase, nodeName, guestOSInfo } = vmi?.status ?? {};
  const live = byType.get('LiveMigratable');
  const migration = vmi && migrationView(sinceCreationOf(migrations, vmi), vmi);
  return {
    name: (vm ?? vmi)?.metadata?.name ?? '',
    namespace: (vm ?? vmi)?.metadata?.namespace ?? '',
    ...(vm && { runStrategy: runStrategyOf(vm) }),
    status: (vm ? vm.status?.printableStatus : vmi?.status?.phase) ?? 'no status yet',
    ...(phase && { phase }),
    ...(nodeName && { node: nodeName }),
    addresses: (vmi?.status?.interfaces ?? []).flatMap((i) => i.ipAddresses ?? (i.ipAddress ? [i.ipAddress] : [])),
    agent: byType.get('AgentConnected')?.status === 'True' ? 'connected' : 'not connected',
    ...(guestOSInfo?.prettyName && { guest: guestOSInfo.prettyName }),
    ...(tokenHolder && { tokenHolder }),
    ...(live && {
      migratable: {
        yes: live.status === 'True',
        why: [live.reason, live.message].filter((text) => text !== '').join(': '),
      },
    }),
    ...(migration && { migration }),
    conditions: [...byType.values()],
  };
}

function migrationView(
  migrations: readonly Migration[],
  vmi: VirtualMachineInstance,
): VmStatusView['migration'] | undefined {
  const migration = migrations.find((one) => !isOver(one)) ?? migrations.at(-1);
  if (!migration) return undefined;
  const { sourceNode, targetNode, failureReason } = stateOf(migration, vmi) ?? {};
  return {
    ...{ name: migration.metadata?.name ?? '', phase: phaseOf(migration) },
    ...(sourceNode && { source: sourceNode }),
    ...(targetNode && { target: targetNode }),
    ...(failureReason && { failure: failureReason }),
  };
}

function migrationText({ name, phase, source, target, failure }: NonNullable<VmStatusView['migration']>): string {
  const way = source && target ? `, ${source} → ${target}` : '';
  return `${phase}${way} (${name})${failure ? `: ${failure}` : ''}`;
}

const migratableText = ({ yes, why }: NonNullable<VmStatusView['migratable']>): string =>
  `${yes ? 'yes' : 'no'}${why === '' ? '' : ` (${why})`}`;

export function renderStatus(view: VmStatusView): string {
  const facts = new Table({ style: TABLE_STYLE });
  facts.push(
    { VM: `${view.namespace}/${view.name}` },
    { status: view.status },
    { 'run strategy': view.runStrategy ?? '- (an instance without a VM)' },
    { 'instance phase': view.phase ?? '-' },
    { node: view.node ?? '-' },
    { addresses: view.addresses.join(', ') || '-' },
    { 'guest agent': view.guest ? `${view.agent} (${view.guest})` : view.agent },
    { 'run token held by': view.tokenHolder ?? '-' },
    { 'live-migratable': view.migratable ? migratableText(view.migratable) : '-' },
    { migration: view.migration ? migrationText(view.migration) : '-' },
  );
  if (view.conditions.length === 0) return facts.toString();
  const conditions = new Table({
    head: ['condition', 'status', 'reason', 'message'],
    style: TABLE_STYLE,
    wordWrap: true,
    colWidths: [26, 8, 40, 60],
  });
  for (const c of view.conditions) conditions.push([c.type, c.status, c.reason, c.message]);
  return `${facts.toString()}\n${conditions.toString()}`;
}
