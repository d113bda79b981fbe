// Copies the named packages and everything they depend on from ./node_modules: node pick-modules.mjs TARGET PACKAGE…
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [target, ...names] = process.argv.slice(2);
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));

/** Path of a dependency as Node resolves it: beside the package that asks, then further up. */
function resolve(from, name) {
  for (let base = from; ; base = base.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
    const path = join(base, 'node_modules', name);
    if (packages[path]) return path;
    if (base === '') throw new Error(`${name}, needed by ${from || 'the launcher'}, is not in package-lock.json`);
  }
}

const picked = new Set();
function pick(path) {
  if (picked.has(path)) return;
  picked.add(path);
  const { dependencies = {}, optionalDependencies = {} } = packages[path];
  for (const name of Object.keys(dependencies)) pick(resolve(path, name));
  // Of these npm installs what fits this machine.
  const optional = Object.keys(optionalDependencies).map((name) => resolve(path, name));
  optional.filter((one) => existsSync(one)).forEach(pick);
}

for (const name of names) pick(resolve('', name));
for (const path of picked) cpSync(path, join(target, path.replace(/^node_modules\//, '')), { recursive: true });
console.log(`${picked.size} packages`);
