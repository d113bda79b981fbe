// Says by its exit code whether node_modules holds what package-lock.json asks for, so that `npm ci` can be skipped.
// Plain JavaScript without imports from node_modules: it runs before they exist.
import { readFileSync } from 'node:fs';

const packages = (file) => JSON.parse(readFileSync(`${process.argv[2]}/${file}`, 'utf8')).packages;

function installed() {
  const present = packages('node_modules/.package-lock.json');
  return Object.entries(packages('package-lock.json')).every(
    ([path, wanted]) => path === '' || wanted.optional || present[path]?.version === wanted.version,
  );
}

try {
  process.exit(installed() ? 0 : 1);
} catch {
  process.exit(1); // no node_modules yet
}
