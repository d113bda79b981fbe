import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { assess, exitCodeOf, hasStarted, isActive } from '../../../../launcher/domain-manager/assess.ts';
import type { Observation } from '../../../../launcher/domain-manager/assess.ts';
import type { DomainEnd } from '../../../../api/launcher/reports.ts';

const fresh = { started: false };
const ran = { started: true };
const seen = (state: number, reason = 0): Observation => ({ state, reason });

test.each([
  { what: 'no definition', observed: 'absent', known: fresh, expected: { state: 'none' } },
  { what: 'defined, not started', observed: seen(5), known: fresh, expected: { state: 'none' } },
  { what: 'a start that failed', observed: seen(5, 6), known: fresh, expected: { state: 'none' } },
  { what: 'QEMU starting up', observed: seen(3, 11), known: fresh, expected: { state: 'starting' } },
  { what: 'running', observed: seen(1, 1), known: ran, expected: { state: 'running' } },
  {
    what: 'running, told to stop',
    observed: seen(1),
    known: { ...ran, shutdownDeadline: 1 },
    expected: { state: 'shuttingDown' },
  },
  { what: 'going down', observed: seen(4), known: ran, expected: { state: 'shuttingDown' } },
  { what: 'paused', observed: seen(3, 1), known: ran, expected: { state: 'paused', reason: 'paused: by request' } },
  { what: 'disk full', observed: seen(3, 5), known: ran, expected: { state: 'paused', reason: 'paused: I/O error' } },
  {
    what: 'paused by a user',
    observed: seen(3, 1),
    known: ran,
    expected: { state: 'paused', pausedBy: 'user' },
  },
  { what: 'disk full, by whom', observed: seen(3, 5), known: ran, expected: { pausedBy: 'ioError' } },
  {
    what: 'switching over',
    observed: seen(3, 2),
    known: { ...ran, leaving: 'm' },
    expected: { pausedBy: 'migration' },
  },
  { what: 'after the switch to post-copy', observed: seen(3, 12), known: ran, expected: { pausedBy: 'migration' } },
  {
    what: 'paused so that its migration ends',
    observed: seen(3, 1),
    known: { ...ran, leaving: 'm', pausedToConverge: true },
    expected: { state: 'paused', pausedBy: 'migration' },
  },
  { what: 'coming in', observed: seen(3, 2), known: { ...fresh, incoming: 'm' }, expected: { state: 'incoming' } },
  { what: 'come in whole', observed: seen(3, 1), known: { ...fresh, incoming: 'm' }, expected: { state: 'incoming' } },
  { what: 'given up', observed: 'absent', known: { ...fresh, incoming: 'm' }, expected: { state: 'none' } },
  {
    what: 'leaving, libvirt has it no more',
    observed: 'absent',
    known: { ...ran, leaving: 'm' },
    expected: { state: 'paused' },
  },
  { what: 'leaving, QEMU gone', observed: seen(5, 3), known: { ...ran, leaving: 'm' }, expected: { state: 'paused' } },
  {
    what: 'left',
    observed: 'absent',
    known: { ...ran, left: 'm', end: 'migrated' },
    expected: { state: 'none', end: 'migrated' },
  },
  { what: 'panicked', observed: seen(6, 1), known: ran, expected: { state: 'crashed' } },
  {
    what: 'shut down by the guest',
    observed: seen(5, 1),
    known: ran,
    expected: { state: 'shutoff', end: 'guestShutdown' },
  },
  {
    what: 'after an agent signal',
    observed: seen(5, 1),
    known: { ...ran, signalled: 'agent' },
    expected: { state: 'shutoff', end: 'agentShutdown' },
  },
  {
    what: 'after a power button',
    observed: seen(5, 1),
    known: { ...ran, signalled: 'acpi' },
    expected: { state: 'shutoff', end: 'acpiShutdown' },
  },
  {
    what: 'destroyed by us, late',
    observed: seen(5, 2),
    known: { ...ran, signalled: 'acpi', destroying: 'destroyedAtDeadline' },
    expected: { state: 'shutoff', end: 'destroyedAtDeadline' },
  },
  { what: 'destroyed by a stranger', observed: seen(5, 2), known: ran, expected: { state: 'shutoff', end: 'killed' } },
  { what: 'QEMU died', observed: seen(5, 3), known: ran, expected: { state: 'crashed', end: 'crashed' } },
  {
    what: 'QEMU died while libvirtd was away',
    observed: seen(5, 8),
    known: ran,
    expected: { state: 'crashed', end: 'crashed' },
  },
  {
    what: 'libvirtd killed while the guest went down',
    observed: seen(5, 3),
    known: { ...ran, wentDown: true },
    expected: { state: 'shutoff', end: 'guestShutdown' },
  },
  {
    what: 'libvirtd killed after the agent was asked',
    observed: seen(5, 8),
    known: { ...ran, signalled: 'agent', unwatched: true },
    expected: { state: 'shutoff', end: 'agentShutdown' },
  },
  {
    what: 'QEMU died after a signal, libvirtd there',
    observed: seen(5, 3),
    known: { ...ran, signalled: 'acpi' },
    expected: { state: 'crashed', end: 'crashed' },
  },
  {
    what: 'QEMU died while we destroyed it',
    observed: seen(5, 6),
    known: { ...ran, destroying: 'killed' },
    expected: { state: 'shutoff', end: 'killed' },
  },
  {
    what: 'ended while no launcher ran',
    observed: seen(5, 1),
    known: fresh,
    expected: { state: 'shutoff', end: 'guestShutdown' },
  },
  { what: 'definition lost', observed: 'absent', known: ran, expected: { state: 'none', end: 'unknown' } },
  {
    what: 'undefined after its end',
    observed: 'absent',
    known: { ...ran, end: 'killed' },
    expected: { state: 'none', end: 'killed' },
  },
] as const)('$what: $expected', ({ observed, known, expected }) => {
  expect(assess(observed, known)).toMatchObject(expected);
  if (!('end' in expected)) expect(assess(observed, known)).not.toHaveProperty('end');
});

const observation: fc.Arbitrary<Observation> = fc.oneof(
  fc.constant('absent' as const),
  fc.record({ state: fc.integer({ min: 0, max: 9 }), reason: fc.integer({ min: 0, max: 20 }) }),
);
const end = fc.constantFrom<DomainEnd>('agentShutdown', 'killed', 'crashed', 'unknown');

test('an end that is known never changes, and a live domain has none', () => {
  fc.assert(
    fc.property(observation, end, (observed, known) => {
      expect(assess(observed, { started: true, end: known }).end ?? known).toBe(known);
      if (isActive(observed)) expect(assess(observed, { started: true })).not.toHaveProperty('end');
    }),
  );
});

test('a domain has started only while QEMU lives and is past its start', () => {
  expect(hasStarted(seen(1))).toBe(true);
  expect(hasStarted(seen(3, 1))).toBe(true);
  expect(hasStarted(seen(3, 11))).toBe(false);
  expect(hasStarted(seen(5))).toBe(false);
  expect(hasStarted('absent')).toBe(false);
});

test('the Pod succeeds unless the guest crashed or nobody knows', () => {
  const ends: (DomainEnd | undefined)[] = [
    undefined,
    'agentShutdown',
    'guestShutdown',
    'destroyedAtDeadline',
    'killed',
  ];
  expect(ends.map(exitCodeOf)).toEqual(ends.map(() => 0));
  expect([exitCodeOf('crashed'), exitCodeOf('unknown')]).toEqual([1, 1]);
});
