import Table from 'cli-table3';
import { Option, type Command } from 'commander';
import { tokenName } from '../../api/contract/refs.ts';
import type { VirtualMachine, VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { vmCommand } from '../options.ts';
import { findGuest, runStrategyOf, talking } from '../virtual-machine.ts';

/** `virtflow status`: where a VM stands, from its Kubernetes objects only (so that it works while Temporal is down). */
export const statusCommand = (): Command =>
  vmCommand('status', 'where a VM stands: status, phase, node, launcher Pod, guest agent, conditions')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'))
    .action(async (name: string, options: { namespace: string; output: 'table' | 'json' }) => {
      const { kube, vm, vmi } = await findGuest(name, options);
      const token = await talking('reading the run token', () =>
        kube.get('Lease', { namespace: options.namespace, name: tokenName({ name }) }),
      );
      const status = summarize(vm, vmi, token?.spec?.holderIdentity);
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
  conditions: { type: string; status: string; reason: string; message: string }[];
}

/** Pure: the view of a VM's objects. */
export function summarize(
  vm: VirtualMachine | undefined,
  vmi: VirtualMachineInstance | undefined,
  tokenHolder: string | undefined,
): VmStatusView {
  const conditions = [...(vm?.status?.conditions ?? []), ...(vmi?.status?.conditions ?? [])];
  const byType = new Map(
    conditions.map((c) => [
      c.type,
      { type: c.type, status: c.status, reason: c.reason ?? '', message: c.message ?? '' },
    ]),
  );
  const { phase, nodeName, guestOSInfo } = vmi?.status ?? {};
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
    conditions: [...byType.values()],
  };
}

export function renderStatus(view: VmStatusView): string {
  const facts = new Table({ style: { head: [], border: [] } });
  facts.push(
    { VM: `${view.namespace}/${view.name}` },
    { status: view.status },
    { 'run strategy': view.runStrategy ?? '- (an instance without a VM)' },
    { 'instance phase': view.phase ?? '-' },
    { node: view.node ?? '-' },
    { addresses: view.addresses.join(', ') || '-' },
    { 'guest agent': view.guest ? `${view.agent} (${view.guest})` : view.agent },
    { 'run token held by': view.tokenHolder ?? '-' },
  );
  if (view.conditions.length === 0) return facts.toString();
  const conditions = new Table({
    head: ['condition', 'status', 'reason', 'message'],
    style: { head: [], border: [] },
    wordWrap: true,
    colWidths: [22, 9, 26, 60],
  });
  for (const c of view.conditions) conditions.push([c.type, c.status, c.reason, c.message]);
  return `${facts.toString()}\n${conditions.toString()}`;
}
