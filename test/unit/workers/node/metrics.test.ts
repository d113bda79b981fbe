import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import type { RunningProxy } from '../../../../activities/node/migration-proxy/index.ts';
import type { Delivery } from '../../../../workers/node/launchers/delivery.ts';
import type { Discovery } from '../../../../workers/node/launchers/discovery.ts';
import { nodeMetrics } from '../../../../workers/node/metrics.ts';

test('figures are those of the moment they are asked for', async () => {
  const register = new Registry();
  let sent = 10;
  const stats: RunningProxy['stats'] = () => ({
    sessions: { source: 1, target: 2 },
    channels: { libvirt: 3, memory: 4, block: 0 },
    traffic: { sent, received: 5 },
    refused: new Map([['tls', 6]]),
  });
  nodeMetrics(register, {
    discovery: { following: () => 7 } as Discovery,
    delivery: { waiting: () => 8 } as Delivery,
    proxy: { stats } as RunningProxy,
    guests: { streams: () => ({ console: 9, vnc: 0, portforward: 0 }) },
  });
  const first = await register.metrics();
  expect(first).toContain('virtflow_node_launchers 7');
  expect(first).toContain('virtflow_node_reports_waiting 8');
  expect(first).toContain('virtflow_node_migration_sessions{role="target"} 2');
  expect(first).toContain('virtflow_node_migration_channels{channel="memory"} 4');
  expect(first).toContain('virtflow_node_migration_bytes_total{direction="sent"} 10');
  expect(first).toContain('virtflow_node_migration_refused_total{reason="tls"} 6');
  expect(first).toContain('virtflow_node_guest_streams{stream="console"} 9');
  sent = 25;
  expect(await register.metrics()).toContain('virtflow_node_migration_bytes_total{direction="sent"} 25');
});
