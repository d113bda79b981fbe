import { expect, test } from '@jest/globals';
import type { Observation } from '../../../../launcher/domain-manager/assess.ts';
import type { LibvirtClient } from '../../../../launcher/libvirt/client.ts';
import type { DomainRef } from '../../../../launcher/libvirt/types.ts';
import { blank } from '../../../../launcher/migration/admission.ts';
import { resumeGuest } from '../../../../launcher/migration/source.ts';

const RUNNING: Observation = { state: 1, reason: 1 };
const PAUSED_BY_USER: Observation = { state: 3, reason: 1 };
const PAUSED_FOR_MIGRATION: Observation = { state: 3, reason: 2 };
const SHUT_OFF: Observation = { state: 5, reason: 1 };

/** A domain that is seen in these states, one after the other, the last for good; QEMU refuses to go on so often. */
const domainOf = (states: [Observation, ...Observation[]], refusals = 0) => {
  const done: string[] = [];
  let left = refusals;
  const client = {
    monitorCommand: (_: DomainRef, execute: string) => {
      done.push(execute);
      return Promise.resolve(left-- > 0 ? 'Failed to get "write" lock' : undefined);
    },
    resume: () => Promise.resolve(void done.push('resume')),
  } as unknown as LibvirtClient;
  const domain: Parameters<typeof resumeGuest>[0] = {
    observe: () => Promise.resolve((states.length > 1 ? states.shift() : states[0]) ?? 'absent'),
    run: (operation) => operation(client, { name: 'guest', uuid: Buffer.alloc(16), id: 1 }),
  };
  return { domain, done };
};
const silent = { info: () => undefined, warn: () => undefined };

test.each<{ what: string; seen: [Observation, ...Observation[]]; does: string[]; guestPaused?: boolean }>([
  { what: 'a guest that QEMU runs again gets its disks back', seen: [RUNNING], does: ['cont'] },
  { what: 'one that was left paused is resumed', seen: [PAUSED_FOR_MIGRATION], does: ['resume'] },
  { what: 'one that a user pauses meanwhile stays paused', seen: [PAUSED_BY_USER], does: [] },
  {
    what: 'one that was paused before stays paused',
    seen: [PAUSED_FOR_MIGRATION],
    guestPaused: true,
    does: [],
  },
  { what: 'one that has ended is left alone', seen: [SHUT_OFF], does: [] },
  { what: 'one that is gone is left alone', seen: ['absent'], does: [] },
])('after a migration that failed: $what', async ({ seen, does, guestPaused = false }) => {
  const { domain, done } = domainOf(seen);
  await resumeGuest(domain, { ...blank, guestPaused }, silent, 0);
  expect(done).toEqual(does);
});

test('disks that QEMU cannot have yet are asked for again, as long as the guest runs', async () => {
  const late = domainOf([RUNNING], 2);
  await resumeGuest(late.domain, blank, silent, 0);
  expect(late.done).toEqual(['cont', 'cont', 'cont']);
  const ended = domainOf([RUNNING, SHUT_OFF], 9);
  await resumeGuest(ended.domain, blank, silent, 0);
  expect(ended.done).toEqual(['cont']);
});
