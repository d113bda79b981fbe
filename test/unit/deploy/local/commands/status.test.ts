import { expect, test } from '@jest/globals';
import { duration, renderStatus } from '../../../../../deploy/local/commands/status.ts';

test.each([
  [0, '0s'],
  [59.6, '1m'],
  [75, '1m15s'],
  [3600, '1h'],
  [90_061, '1d1h'],
  [-3, '0s'],
])('%d seconds are shown as %s', (seconds, shown) => {
  expect(duration(seconds)).toBe(shown);
});

test('the table names each process without its cgroup, its pid and address, and says which nodes are Ready', () => {
  const text = renderStatus({
    processes: [
      { name: 'control-plane/etcd', state: 'up', pid: 12, uptimeSeconds: 61, address: 'https://10.99.0.1:2379' },
      { name: 'node-a/system/kubelet', state: 'down', address: 'https://10.99.0.11:10250' },
    ],
    nodes: { 'node-a': true, 'node-b': false },
  });
  expect(text).toMatch(/│ etcd +│ up +│ 12 +│ 1m1s +│ https:\/\/10\.99\.0\.1:2379/);
  expect(text).toMatch(/│ node-a\/kubelet │ down +│ +│ +│/);
  expect(text).toContain('node-a: Ready\nnode-b: not Ready');
});
