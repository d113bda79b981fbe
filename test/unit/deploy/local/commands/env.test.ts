import { expect, test } from '@jest/globals';
import { clusterEnv, exports } from '../../../../../deploy/local/commands/env.ts';
import { createContext } from '../../../../../deploy/local/context.ts';

const ctx = { ...createContext(), stateDir: "/home/o'brien/state", cacheDir: '/cache' };

test('each line is one export that a shell can evaluate, whatever the paths hold', () => {
  const lines = exports(ctx).split('\n');
  expect(lines).toContain(`export KUBECONFIG='/home/o'\\''brien/state/admin.kubeconfig'`);
  expect(lines).toContain("export TEMPORAL_ADDRESS='10.99.0.2:7233'");
  expect(lines).toContain("export TEMPORAL_NAMESPACE='virtflow'");
  expect(lines).toContain(`export PATH='/home/o'\\''brien/state/bin':"$PATH"`);
});

test('the commands come first in PATH, once', () => {
  const once = clusterEnv(ctx, '/usr/bin')['PATH'];
  expect(once).toBe("/home/o'brien/state/bin:/usr/bin");
  expect(clusterEnv(ctx, once)['PATH']).toBe(once);
});
