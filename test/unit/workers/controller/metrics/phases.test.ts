import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import type { VirtualMachineInstance } from '../../../../../api/kubevirt/types.ts';
import { phaseMetrics, transitionsOf } from '../../../../../workers/controller/metrics/phases.ts';

const vmi = (...phases: [string, string][]): VirtualMachineInstance => ({
  metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { domain: { devices: {} } },
  status: {
    phase: phases.at(-1)?.[0] ?? '',
    phaseTransitionTimestamps: phases.map(([phase, at]) => ({
      phase,
      phaseTransitionTimestamp: `2026-01-01T00:00:${at}Z`,
    })),
  },
});
const pending = vmi(['Pending', '01']);
const scheduled = vmi(['Pending', '01'], ['Scheduled', '04']);
const running = vmi(['Pending', '01'], ['Scheduled', '04'], ['Running', '09']);

test('each phase that was entered, with the times since creation and since the phase before', () => {
  expect(transitionsOf({ before: pending, after: running })).toEqual([
    { phase: 'Scheduled', lastPhase: 'Pending', fromCreation: 4, fromLastPhase: 3 },
    { phase: 'Running', lastPhase: 'Scheduled', fromCreation: 9, fromLastPhase: 5 },
  ]);
});

test('nothing of an object that is new to us, gone, or unchanged', () => {
  expect(transitionsOf({ after: running })).toEqual([]);
  expect(transitionsOf({ before: running })).toEqual([]);
  expect(transitionsOf({ before: running, after: running })).toEqual([]);
});

test("KubeVirt's names", async () => {
  const register = new Registry();
  const observe = phaseMetrics(register, () => [running]);
  observe({ before: scheduled, after: running });
  const text = await register.metrics();
  expect(text).toContain('kubevirt_vmi_phase_transition_time_from_creation_seconds_count{phase="Running"} 1');
  expect(text).toContain('kubevirt_vmi_phase_transition_time_seconds_sum{phase="Running",last_phase="Scheduled"} 5');
  expect(text).toContain('kubevirt_vmi_phase_count{phase="running",node=""} 1');
});
