import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { cpuManagerLabels, isStatic } from '../../../../../workers/node/labels/cpu-manager.ts';

test.each([
  ['{"policyName":"static","defaultCpuSet":"0-1","checksum":1}', true],
  ['{"policyName":"none","defaultCpuSet":"","checksum":1353318690}', false],
  ['{}', false],
  ['static', false],
  ['', false],
])('a kubelet with %s', (text, then) => {
  expect(isStatic(text)).toBe(then);
});

test('both labels say the same; without a record nobody is promised CPUs', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-'));
  const file = join(directory, 'cpu_manager_state');
  expect(await cpuManagerLabels(file)).toEqual({ 'kubevirt.io/cpumanager': 'false', cpumanager: 'false' });
  await writeFile(file, '{"policyName":"static"}');
  expect(await cpuManagerLabels(file)).toEqual({ 'kubevirt.io/cpumanager': 'true', cpumanager: 'true' });
  await rm(directory, { recursive: true });
});
