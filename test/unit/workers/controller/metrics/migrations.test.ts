import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import type { VirtualMachineInstanceMigration } from '../../../../../api/kubevirt/types.ts';
import { countedAs, migrationMetrics } from '../../../../../workers/controller/metrics/migrations.ts';

const vmim = (name: string, ...phases: string[]): VirtualMachineInstanceMigration => ({
  metadata: { namespace: 'n', name, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { vmiName: 'web' },
  status: {
    phase: phases.at(-1) ?? '',
    phaseTransitionTimestamps: phases.map((phase, index) => ({
      phase,
      phaseTransitionTimestamp: `2026-01-01T00:00:0${index + 1}Z`,
    })),
  },
});

test.each([
  ['', 'unset'],
  ['Pending', 'pending'],
  ['Scheduling', 'scheduling'],
  ['Scheduled', 'running'],
  ['PreparingTarget', 'running'],
  ['TargetReady', 'running'],
  ['Running', 'running'],
  ['Succeeded', undefined],
  ['Failed', undefined],
])('phase "%s" is counted as %s', (phase, counter) => {
  expect(countedAs(phase)).toBe(counter);
});

test("KubeVirt's names", async () => {
  const register = new Registry();
  const before = vmim('moves', 'Pending');
  const after = vmim('moves', 'Pending', 'Scheduling');
  const observe = migrationMetrics(register, () => [
    after,
    vmim('late'),
    vmim('done', 'Succeeded'),
    vmim('lost', 'Failed'),
  ]);
  observe({ before, after });
  observe({ after: vmim('new', 'Pending') });
  const text = await register.metrics();
  expect(text).toContain('kubevirt_vmi_migrations_in_unset_phase 1');
  expect(text).toContain('kubevirt_vmi_migrations_in_pending_phase 0');
  expect(text).toContain('kubevirt_vmi_migrations_in_scheduling_phase 1');
  expect(text).toContain('kubevirt_vmi_migrations_in_running_phase 0');
  expect(text).toContain('kubevirt_vmi_migration_succeeded{vmi="web",vmim="done",namespace="n"} 1');
  expect(text).toContain('kubevirt_vmi_migration_failed{vmi="web",vmim="lost",namespace="n"} 1');
  const histogram = 'kubevirt_vmi_migration_phase_transition_time_from_creation_seconds';
  expect(text).toContain(`${histogram}_sum{phase="Scheduling"} 2`);
  expect(text).not.toContain(`${histogram}_sum{phase="Pending"}`);
});
