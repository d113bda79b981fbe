import { expect, test } from '@jest/globals';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { isRunning } from '../../../cli/wait.ts';

const vmi = (phase: string, deletionTimestamp?: string): VirtualMachineInstance => ({
  metadata: { ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
  spec: { domain: { devices: {} } },
  status: { phase },
});

test('an instance that is on its way down is not what a start waits for', () => {
  expect(isRunning(vmi('Running'))).toBe(true);
  expect(isRunning(vmi('Running', '2026-01-01T00:00:00Z'))).toBe(false);
  expect(isRunning(vmi('Scheduled'))).toBe(false);
  expect(isRunning(undefined)).toBe(false);
});
