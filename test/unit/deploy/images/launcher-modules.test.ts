import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../../../..');

/** Packages that a module loads at run time, itself or through modules of this repository. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(file)) return packages;
  seen.add(file);
  const source = readFileSync(file, 'utf8');
  const imports = source.matchAll(/^(?:import|export)\s(?!type\s)(?:[^'";]*\sfrom\s)?'([^']+)'/gm);
  const later = source.matchAll(/\bimport\('([^']+)'\)/g);
  for (const [, specifier = ''] of [...imports, ...later]) {
    if (specifier.startsWith('.')) {
      for (const name of packagesOf(join(dirname(file), specifier), seen)) packages.add(name);
    } else if (!specifier.startsWith('node:')) {
      packages.add(
        specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/'),
      );
    }
  }
  return packages;
}

test('the launcher is bundled with the packages that it loads, and no others', () => {
  const containerfile = readFileSync(join(root, 'deploy/images/Containerfile'), 'utf8');
  const picked = /pick-modules\.mjs \/picked (.*)/.exec(containerfile)?.[1]?.split(' ');
  expect([...packagesOf(join(root, 'launcher/main.ts'))].sort()).toEqual(
    picked?.filter((name) => name !== 'esbuild').sort(),
  );
});
