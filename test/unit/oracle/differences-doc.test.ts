import { expect, test } from '@jest/globals';
import { documentedRules, drift, readDocumentedRules } from '../../oracle/differences-doc.ts';
import { ADMISSION_RULES } from '../../oracle/sets/admission.ts';
import { POD_RULES } from '../../oracle/sets/launcher-pod.ts';
import { OVERHEAD_RULES } from '../../oracle/sets/memory-overhead.ts';
import { POLICY_RULES } from '../../oracle/sets/migration-policy.ts';
import { MUTATION_RULES } from '../../oracle/sets/mutation.ts';
import { VM_STATUS_RULES } from '../../oracle/sets/vm-status.ts';
import { VM_TO_VMI_RULES } from '../../oracle/sets/vm-to-vmi.ts';

test('the document tells of every rule, and of no other', () => {
  const rules = [
    ...[POD_RULES, OVERHEAD_RULES, ADMISSION_RULES, MUTATION_RULES, VM_TO_VMI_RULES, VM_STATUS_RULES],
    POLICY_RULES,
  ];
  const ids = rules.flatMap((ofSet) => ofSet.map(({ id }: { id: string }) => id));
  expect(drift(ids, readDocumentedRules())).toEqual([]);
});

test('every told rule says what KubeVirt does, what virtflow does, and why', () => {
  expect(documentedRules('# x\n\n### `one-two`\n\ntext\n\n### other\n\n### `three`\n')).toEqual(['one-two', 'three']);
});

test('a rule on one side only is named', () => {
  expect(drift(['a', 'b'], ['b', 'c'])).toEqual([expect.stringContaining('"a"'), expect.stringContaining('"c"')]);
});
