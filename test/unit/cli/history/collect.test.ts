import { expect, test } from '@jest/globals';
import { operationsQuery, uiLink } from '../../../../cli/history/collect.ts';

test('operations are found by namespace, name and operation type', () => {
  expect(operationsQuery('prod', 'web')).toBe(
    'VmNamespace = "prod" AND VmName = "web" AND WorkflowType IN ("startInstance", "shutdownInstance", "migrateInstance")',
  );
});

test('a link into the UI survives the slashes of workflow ids and a trailing slash of the address', () => {
  expect(uiLink('http://ui:8233/', 'virtflow', 'vmi-start/u1/1', 'run-1')).toBe(
    'http://ui:8233/namespaces/virtflow/workflows/vmi-start%2Fu1%2F1/run-1/history',
  );
});
