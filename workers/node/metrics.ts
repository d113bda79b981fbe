import type { Registry } from 'prom-client';
import { Counter, Gauge } from 'prom-client';
import type { RunningProxy } from '../../activities/node/migration-proxy/index.ts';
import type { Delivery } from './launchers/delivery.ts';
import type { RunningGuestAccess } from './guest-access/index.ts';
import type { Discovery } from './launchers/discovery.ts';

export interface NodeParts {
  discovery: Discovery;
  delivery: Delivery;
  proxy: RunningProxy;
  guests: Pick<RunningGuestAccess, 'streams'>;
}

/** Figures of a node worker, read when somebody asks. */
export const nodeMetrics = (register: Registry, { discovery, delivery, proxy, guests }: NodeParts): void => {
  const registers = [register];
  new Gauge({
    name: 'virtflow_node_launchers',
    help: 'Launchers of this node that are being followed',
    registers,
    collect() {
      this.set(discovery.following());
    },
  });
  new Gauge({
    name: 'virtflow_node_reports_waiting',
    help: 'Launchers whose newest report has not reached Temporal yet',
    registers,
    collect() {
      this.set(delivery.waiting());
    },
  });
  new Gauge({
    name: 'virtflow_node_migration_sessions',
    help: 'Migrations that this node is source or target of',
    labelNames: ['role'],
    registers,
    collect() {
      for (const [role, count] of Object.entries(proxy.stats().sessions)) this.set({ role }, count);
    },
  });
  new Gauge({
    name: 'virtflow_node_migration_channels',
    help: 'Connections of migrations through this node that are open',
    labelNames: ['channel'],
    registers,
    collect() {
      for (const [channel, count] of Object.entries(proxy.stats().channels)) this.set({ channel }, count);
    },
  });
  new Gauge({
    name: 'virtflow_node_guest_streams',
    help: 'Consoles, displays and forwarded ports of guests of this node that are in use',
    labelNames: ['stream'],
    registers,
    collect() {
      for (const [stream, count] of Object.entries(guests.streams())) this.set({ stream }, count);
    },
  });
  counted(register, {
    name: 'virtflow_node_migration_bytes_total',
    help: 'Bytes of migrations that this node has sent to others and received from them',
    label: 'direction',
    read: () => Object.entries(proxy.stats().traffic),
  });
  counted(register, {
    name: 'virtflow_node_migration_refused_total',
    help: 'Connections to the migration port that were refused',
    label: 'reason',
    read: () => proxy.stats().refused,
  });
};

/** A counter whose figures are kept elsewhere. */
const counted = (
  register: Registry,
  { name, help, label, read }: { name: string; help: string; label: string; read: () => Iterable<[string, number]> },
): void => {
  new Counter({
    name,
    help,
    labelNames: [label],
    registers: [register],
    collect() {
      this.reset();
      for (const [value, count] of read()) this.inc({ [label]: value }, count);
    },
  });
};
