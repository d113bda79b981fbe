import { basename } from 'node:path';
import Table from 'cli-table3';
import { allProcesses, readyNodes } from '../cluster/cluster.ts';
import { nodes } from '../cluster/addresses.ts';
import type { Context } from '../context.ts';
import { findRunning, startedAt } from '../process.ts';
import type { ProcessSpec } from '../process.ts';

/** How a process or a node fares. */
export interface Status {
  readonly name: string;
  readonly state: 'up' | 'not serving' | 'down';
  readonly pid?: number;
  readonly uptimeSeconds?: number;
  readonly address: string;
}

async function statusOf(ctx: Context, spec: ProcessSpec): Promise<Status> {
  const running = await findRunning(ctx, spec);
  if (!running) return { name: spec.name, state: 'down', address: spec.address };
  const uptimeSeconds = Math.round((Date.now() - (await startedAt(running))) / 1000);
  const state = (await spec.ready()) ? 'up' : 'not serving';
  return { name: spec.name, state, pid: running.pid, uptimeSeconds, address: spec.address };
}

export async function clusterStatus(ctx: Context): Promise<{ processes: Status[]; nodes: Record<string, boolean> }> {
  const processes = await Promise.all((await allProcesses(ctx)).map((spec) => statusOf(ctx, spec)));
  const ready = await readyNodes(ctx).catch(() => new Set<string>());
  return { processes, nodes: Object.fromEntries(nodes.map(({ name }) => [name, ready.has(name)])) };
}

/** 75 s as "1m15s". */
export function duration(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const;
  let left = Math.max(0, Math.round(seconds));
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0 || (unit === 's' && parts.length === 0)) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 2).join('');
}

const plain = { head: [], border: [] };

export function renderStatus({ processes, nodes: ready }: Awaited<ReturnType<typeof clusterStatus>>): string {
  const table = new Table({ head: ['process', 'state', 'pid', 'uptime', 'address'], style: plain });
  for (const { name, state, pid, uptimeSeconds, address } of processes) {
    const where = name.split('/')[0] ?? '';
    const shown = where === 'control-plane' ? basename(name) : `${where}/${basename(name)}`;
    table.push([shown, state, pid ?? '', uptimeSeconds === undefined ? '' : duration(uptimeSeconds), address]);
  }
  const lines = Object.entries(ready).map(([name, isReady]) => `${name}: ${isReady ? 'Ready' : 'not Ready'}`);
  return `${table.toString()}\n${lines.join('\n')}`;
}
