import { existsSync, mkdtempSync, rmSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { cgroupDir } from '../../../deploy/local/cgroup.ts';
import { createContext } from '../../../deploy/local/context.ts';
import { ensureRestarted, ensureRunning, findRunning, stop } from '../../../deploy/local/process.ts';
import { until } from '../../support/until.ts';

const dir = mkdtempSync(join(tmpdir(), 'virtflow-process-'));
const ctx = { ...createContext(), stateDir: dir };
const [tried, serving] = [join(dir, 'tried'), join(dir, 'serving')];
const spec = {
  name: `test-${process.pid}/flaky`,
  command: ['sh', '-c', `test -e ${tried} && touch ${serving} && exec sleep 60; touch ${tried}; exit 1`],
  address: 'nowhere',
  ready: () => Promise.resolve(existsSync(serving)),
  readyWithin: 10,
} as const;

afterAll(async () => {
  const running = await findRunning(ctx, spec);
  if (running) await stop(running);
  const cgroup = cgroupDir(spec.name);
  for (const path of [cgroup, dirname(cgroup)]) await until('the cgroup is empty', () => removed(path));
});

const removed = (path: string): boolean => {
  try {
    rmdirSync(path);
  } catch {
    // a process in it is not reaped yet
  }
  return !existsSync(path);
};

test('a process that exits at first is started again, and left alone once it runs', async () => {
  await expect(ensureRunning(ctx, spec)).rejects.toThrow('exited');
  rmSync(tried);
  await ensureRestarted(ctx, spec);
  const running = await findRunning(ctx, spec);
  expect(running).toBeDefined();
  await ensureRestarted(ctx, spec);
  expect(await findRunning(ctx, spec)).toEqual(running);
});
