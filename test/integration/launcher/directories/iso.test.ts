import { expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writeIso } from '../../../../launcher/directories/iso.ts';

/** What an image could tell of the time it was made. */
const CLOCK_TICK_MS = 1_100;

test('the same files give the same image, whenever it is made: a guest that migrates keeps what it has read', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'vf-iso-'));
  try {
    const files = { 'user-data': '#!/bin/sh\n', 'meta-data': '{}' };
    await writeIso(join(directory, 'a.iso'), 'cidata', files);
    await delay(CLOCK_TICK_MS);
    await writeIso(join(directory, 'b.iso'), 'cidata', files);
    expect(readFileSync(join(directory, 'a.iso')).equals(readFileSync(join(directory, 'b.iso')))).toBe(true);
    await writeIso(join(directory, 'c.iso'), 'cidata', { ...files, 'meta-data': '{ }' });
    expect(readFileSync(join(directory, 'a.iso')).equals(readFileSync(join(directory, 'c.iso')))).toBe(false);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
