import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { drift, readDocumentedRules } from './differences-doc.ts';
import { runSet } from './oracle-set.ts';
import { details, reasons, share, summaryTable } from './report.ts';
import { admissionVm, admissionVmi, admissionVmim } from './sets/admission.ts';
import { domainXmlEmulated, domainXmlKvm } from './sets/domain-xml.ts';
import { hotplugAttachment, launcherPod, migrationTarget, migrationTargetCreated } from './sets/launcher-pod.ts';
import { memoryOverheadTable } from './sets/memory-overhead.ts';
import { migrationPolicyTable } from './sets/migration-policy.ts';
import { mutation } from './sets/mutation.ts';
import { vmStatusTable } from './sets/vm-status.ts';
import { vmToVmi } from './sets/vm-to-vmi.ts';

const SETS = [
  domainXmlEmulated,
  domainXmlKvm,
  launcherPod,
  migrationTarget,
  migrationTargetCreated,
  hotplugAttachment,
  memoryOverheadTable,
  admissionVm,
  admissionVmi,
  admissionVmim,
  mutation,
  vmToVmi,
  vmStatusTable,
  migrationPolicyTable,
];
const DEFAULT_DIRECTORY = resolve(import.meta.dirname, '../../../shared/data/oracle');

const USAGE = `Compares virtflow's answers with those KubeVirt's own code gave.

  npm run oracle -- [DIR] [--verbose]

DIR holds the reference answers (default: ${DEFAULT_DIRECTORY}). --verbose shows what differs, case by case.
Exit code 1: something differs without a reason that docs/kubevirt-differences.md lists, or that list and the code do not agree.`;

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { verbose: { type: 'boolean', short: 'v' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return print(0, USAGE);
  const disagreements = drift([...new Set(SETS.flatMap(({ ruleIds }) => ruleIds))], readDocumentedRules());
  if (disagreements.length > 0) return print(1, ...disagreements);
  const directory = resolve(positionals[0] ?? DEFAULT_DIRECTORY);
  if (!existsSync(directory)) return print(0, `No reference answers at ${directory}: nothing was compared.`);

  const results = SETS.map((set) => ({ name: set.name, cases: runSet(set, directory) }));
  print(0, summaryTable(results), share(results), ...reasons(results));
  if (values.verbose) print(0, ...results.flatMap(details));
  const failed = results.some(({ cases }) => cases?.some(({ verdict }) => verdict.kind === 'different'));
  return failed && !values.verbose ? print(1, 'Run with --verbose to see what differs.') : Number(failed);
}

function print(code: number, ...lines: string[]): number {
  for (const line of lines) console.log(line);
  return code;
}

process.exitCode = main();
