import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Context } from '../context.ts';
import { countJest, countOne, sum } from './test-counts.ts';
import type { Counts } from './test-counts.ts';

/** The sections of `./dev test`, in the order in which they run. */
export const sections = ['static', 'unit', 'workflow', 'replay', 'integration', 'e2e', 'oracle'] as const;
export type Section = (typeof sections)[number];

/** Runs the sections and returns what passed and failed. Never throws because a test fails. */
export async function runSections(ctx: Context, chosen: readonly Section[], env: NodeJS.ProcessEnv): Promise<Counts> {
  const counts: Counts[] = [];
  for (const section of sections.filter((one) => chosen.includes(one))) {
    console.log(`\n── ${section}`);
    counts.push(await runners[section](ctx, env));
  }
  return sum(counts);
}

type Runner = (ctx: Context, env: NodeJS.ProcessEnv) => Promise<Counts>;

const jest =
  (project: string, ...flags: string[]): Runner =>
  async (ctx, env) => {
    const file = join(ctx.root, 'artifacts', `jest-${project}.json`);
    await mkdir(join(ctx.root, 'artifacts'), { recursive: true });
    await rm(file, { force: true });
    const args = ['--selectProjects', project, '--passWithNoTests', '--json', `--outputFile=${file}`, ...flags];
    const options = '--experimental-vm-modules --no-warnings';
    const exitCode = await run(ctx, ['npx', 'jest', ...args], { ...env, NODE_OPTIONS: options });
    const report: unknown = await readFile(file, 'utf8').then(parseJson, () => undefined);
    return countJest(project, report, exitCode);
  };

const npmScripts =
  (...scripts: string[]): Runner =>
  async (ctx, env) => {
    const counts: Counts[] = [];
    for (const script of scripts) {
      const exitCode = await run(ctx, ['npm', 'run', '--silent', script], env);
      console.log(`${script}: ${exitCode === 0 ? 'passed' : 'FAILED'}`);
      counts.push(countOne(script, exitCode === 0));
    }
    return sum(counts);
  };

const oracle: Runner = async (ctx, env) => {
  const dir = process.env['ORACLE_DIR'] ?? join(ctx.root, '../shared/data/oracle');
  if (!existsSync(dir)) {
    console.log(`skipped: ${dir} does not exist (set ORACLE_DIR to a folder of KubeVirt's recorded answers)`);
    return sum([]);
  }
  const exitCode = await run(ctx, ['npm', 'run', '--silent', 'oracle', '--', dir], env);
  return countOne('oracle', exitCode === 0);
};

const runners: Record<Section, Runner> = {
  static: npmScripts('format:check', 'lint', 'typecheck'),
  unit: jest('unit'),
  workflow: jest('workflow', '--runInBand', '--forceExit'),
  replay: jest('replay', '--runInBand', '--forceExit'),
  integration: jest('integration', '--runInBand', '--forceExit'),
  e2e: jest('e2e', '--runInBand', '--forceExit'),
  oracle,
};

/** Jest's --json goes to a file; its own standard output is dropped, since it repeats that report as one line. */
async function run(ctx: Context, [file = '', ...args]: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const stdout = file === 'npx' ? 'ignore' : 'inherit';
  const result = await execa(file, args, {
    cwd: ctx.root,
    env,
    reject: false,
    stdin: 'ignore',
    stdout,
    stderr: 'inherit',
  });
  return result.exitCode ?? 1;
}

const parseJson = (text: string): unknown => JSON.parse(text);
