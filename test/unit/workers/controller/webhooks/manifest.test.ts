import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { API_SERVICE, WEBHOOKS } from '../../../../../workers/controller/https/trust.ts';
import { judges } from '../../../../../workers/controller/webhooks/index.ts';
import { ports } from './ports.ts';

interface Webhook {
  failurePolicy: string;
  clientConfig: { service: { name: string; namespace: string; path: string } };
  rules: { operations: string[]; scope: string }[];
  namespaceSelector?: object;
  matchConditions?: { name: string }[];
}

const documents = parseAllDocuments(
  readFileSync(join(import.meta.dirname, '../../../../../deploy/base/webhooks.yaml'), 'utf8'),
).map((document) => document.toJSON() as { kind: string; metadata: { name: string }; webhooks?: Webhook[] });
const webhooks = documents.flatMap(({ webhooks: some = [] }) => some);

test('every webhook leads to a judge at the front door, and every judge is asked', () => {
  expect(webhooks.map(({ clientConfig }) => clientConfig.service.path).sort()).toEqual(
    Object.keys(judges(ports())).sort(),
  );
  for (const { clientConfig } of webhooks)
    expect(clientConfig.service).toMatchObject({ name: API_SERVICE, namespace: 'virtflow' });
  const names = documents.filter(({ webhooks: some }) => some !== undefined).map(({ metadata }) => metadata.name);
  expect(names).toEqual([WEBHOOKS, WEBHOOKS]);
});

test('nothing is taken unjudged, and no deletion and nothing in virtflow’s own namespace waits for virtflow', () => {
  const others = [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['virtflow'] }];
  for (const { clientConfig, failurePolicy, rules, namespaceSelector } of webhooks) {
    // Its own configuration lies in its namespace; policies lie in none.
    const isConfiguration = clientConfig.service.path === '/validate/kubevirts';
    const isInNamespaces = rules.some(({ scope }) => scope !== 'Cluster') && !isConfiguration;
    expect(failurePolicy).toBe(isConfiguration ? 'Ignore' : 'Fail');
    expect(rules.flatMap(({ operations }) => operations)).not.toContain('DELETE');
    expect(namespaceSelector).toEqual(isInNamespaces ? { matchExpressions: others } : undefined);
  }
});
