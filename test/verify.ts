import { execa } from 'execa';

/**
 * `npm run verify`: what to run while working. Two lanes side by side, since each keeps about one core busy: static checks, and the tests that need
 * no machine. Prints each check's outcome as it ends, and the output of what failed. Exit code 1 if anything did.
 */
const LANES: readonly (readonly string[])[] = [
  ['format:check', 'lint', 'typecheck', 'test:unit'],
  ['test:workflow', 'test:replay'],
];

const started = Date.now();
const seconds = (since: number): string => `${((Date.now() - since) / 1000).toFixed(0)} s`;

async function runLane(scripts: readonly string[]): Promise<number> {
  let failed = 0;
  for (const script of scripts) {
    const since = Date.now();
    const result = await execa('npm', ['run', '--silent', script], { reject: false, all: true, stdin: 'ignore' });
    if (result.failed) console.error(result.all);
    console.log(`${result.failed ? '✗' : '✓'} ${script} (${seconds(since)})`);
    if (result.failed) failed += 1;
  }
  return failed;
}

const failures = await Promise.all(LANES.map(runLane));
const failed = failures.reduce((sum, count) => sum + count, 0);
console.log(
  failed === 0
    ? `all is well (${seconds(started)})`
    : `${failed} of ${LANES.flat().length} failed (${seconds(started)})`,
);
process.exitCode = failed === 0 ? 0 : 1;
