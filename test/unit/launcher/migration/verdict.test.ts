import { expect, test } from '@jest/globals';
import type { Observation } from '../../../../launcher/domain-manager/assess.ts';
import type { SourceRecord } from '../../../../launcher/migration/record.ts';
import { verdictOf } from '../../../../launcher/migration/verdict.ts';
import type { Evidence } from '../../../../launcher/migration/verdict.ts';

const record: SourceRecord = {
  role: 'source',
  options: {
    completionTimeoutPerGiB: 150,
    progressTimeout: 150,
    allowAutoConverge: false,
    allowPostCopy: false,
    allowWorkloadDisruption: false,
    unsafe: false,
  },
  targetCpus: [],
  guestPaused: false,
  mode: 'PreCopy',
  switched: false,
  postCopy: false,
  settled: false,
};
const withPostCopy = { options: { ...record.options, allowPostCopy: true } };
const seen = (state: number, reason: number): Observation => ({ state, reason });
const RUNNING = seen(1, 1);
const SWITCHING = seen(3, 2);
const MIGRATED = seen(5, 4);
const CRASHED = seen(5, 3);

interface Case {
  what: string;
  of?: Partial<SourceRecord>;
  evidence: Partial<Evidence>;
  expected: object | string;
}
const gone = { kind: 'sourceGone' };
const active = (cause: string): object => ({ kind: 'sourceActive', cause });

test.each<Case>([
  {
    what: 'QEMU ended after the switch',
    of: { switched: true },
    evidence: { qemu: false, seen: undefined },
    expected: gone,
  },
  { what: 'QEMU of a paused guest ended', of: { guestPaused: true }, evidence: { qemu: false }, expected: gone },
  { what: 'QEMU ended, libvirt is away', evidence: { qemu: false, seen: undefined }, expected: 'wait' },
  { what: 'QEMU ended, libvirt says migrated', evidence: { qemu: false, seen: MIGRATED }, expected: gone },
  { what: 'QEMU ended, libvirt has forgotten it', evidence: { qemu: false, seen: 'absent' }, expected: gone },
  { what: 'the guest crashed before', evidence: { qemu: false, seen: CRASHED }, expected: active('failed') },
  { what: 'QEMU ended, libvirt has not noticed', evidence: { qemu: false, seen: RUNNING }, expected: 'wait' },
  {
    what: 'destroyed here although it was switching',
    of: { switched: true },
    evidence: { qemu: false, seen: seen(5, 2), destroying: true },
    expected: active('failed'),
  },
  {
    what: 'destroyed here, but libvirt had brought it over',
    of: { switched: true },
    evidence: { qemu: false, seen: 'absent', destroying: true },
    expected: gone,
  },
  { what: 'still under way', evidence: { seen: RUNNING, job: true }, expected: 'wait' },
  { what: 'libvirt does not answer', evidence: { seen: undefined, job: undefined }, expected: 'wait' },
  { what: 'failed', evidence: { seen: RUNNING }, expected: active('failed') },
  {
    what: 'left standing still by a restarted libvirt',
    of: { switched: true },
    evidence: { seen: SWITCHING },
    expected: active('failed'),
  },
  { what: 'aborted', of: { stop: 'aborted' }, evidence: { seen: RUNNING }, expected: active('aborted') },
  { what: 'late', of: { stop: 'timeout' }, evidence: { seen: RUNNING }, expected: active('timeout') },
  {
    what: 'late, post-copy allowed',
    of: { stop: 'timeout', ...withPostCopy },
    evidence: { seen: RUNNING },
    expected: 'again',
  },
  {
    what: 'late in its second attempt',
    of: { stop: 'timeout', mode: 'PostCopy', ...withPostCopy },
    evidence: { seen: RUNNING },
    expected: active('timeout'),
  },
  {
    what: 'aborted, post-copy allowed',
    of: { stop: 'aborted', ...withPostCopy },
    evidence: { seen: RUNNING },
    expected: active('aborted'),
  },
  {
    what: 'lost in post-copy',
    of: { postCopy: true, switched: true },
    evidence: { seen: seen(3, 13) },
    expected: { kind: 'unknown' },
  },
  {
    what: 'lost in post-copy, though libvirt shows a job',
    of: { postCopy: true, switched: true },
    evidence: { seen: seen(3, 13), job: true },
    expected: { kind: 'unknown' },
  },
  { what: 'post-copy is done', of: { postCopy: true, switched: true }, evidence: { qemu: false }, expected: gone },
  {
    what: 'lost before the switch to post-copy',
    of: { postCopy: true },
    evidence: { seen: RUNNING },
    expected: active('failed'),
  },
])('$what', ({ of, evidence, expected }) => {
  const verdict = verdictOf({
    record: { ...record, ...of },
    qemu: true,
    seen: RUNNING,
    job: false,
    destroying: false,
    why: 'libvirt says no',
    ...evidence,
  });
  if (typeof expected === 'string') expect(verdict).toBe(expected);
  else expect(verdict).toMatchObject(expected);
});

test('the message tells why: libvirt in its own words, or what was asked for', () => {
  const of = (changes: Partial<SourceRecord>, why?: string): unknown =>
    verdictOf({ record: { ...record, ...changes }, qemu: true, seen: RUNNING, job: false, destroying: false, why });
  expect(of({}, 'no route')).toMatchObject({ message: 'no route' });
  expect(of({})).toMatchObject({ message: expect.stringContaining('restarted') });
  expect(of({ stop: 'timeout' })).toMatchObject({ message: 'did not converge in time' });
  expect(of({ stop: 'timeout', mode: 'Paused' })).toMatchObject({ message: expect.stringContaining('paused') });
});
