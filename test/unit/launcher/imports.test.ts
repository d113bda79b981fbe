import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../../launcher/main.ts', import.meta.url));

/** Packages that a source file loads at run time, with everything of ours that it imports. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(file)) return packages;
  seen.add(file);
  const source = readFileSync(file, 'utf8');
  const later = source.matchAll(/\bimport\('([^']+)'\)/g);
  for (const [statement, from] of [...source.matchAll(/^(?:import|export)\s[^;]*?from '([^']+)'/gms), ...later]) {
    if (from === undefined || statement.startsWith('import type') || statement.startsWith('export type')) continue;
    if (from.startsWith('.')) packagesOf(join(dirname(file), from), seen).forEach((name) => packages.add(name));
    else if (!from.startsWith('node:')) packages.add(from);
  }
  return packages;
}

test('the launcher loads little: neither Temporal nor the Kubernetes client', () => {
  const packages = [...packagesOf(main)];
  expect(packages).toEqual(expect.arrayContaining(['@grpc/grpc-js', 'pino', 'zod']));
  expect(packages.filter((name) => name.startsWith('@temporalio') || name.startsWith('@kubernetes'))).toEqual([]);
  expect(packages.length).toBeLessThan(10);
});
