import { expect, test } from '@jest/globals';
import { readNewReplicaSet, validateReplicaSet } from '../../../../api/validation/index.ts';
import { configured } from '../../../support/instances.ts';
import { short } from './told.ts';

const labels = { app: 'web' };
const replicaSet = (spec: object = {}): object => ({
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { domain: { devices: {}, memory: { guest: '1Gi' } } } },
    ...spec,
  },
});
const causes = (object: object): string[] => {
  const read = readNewReplicaSet(object);
  return short(read.object === undefined ? read.causes : validateReplicaSet(read.object, configured()));
};

test('a sound one is taken', () => {
  expect(causes(replicaSet())).toEqual([]);
});

test.each<[string, object, string[]]>([
  ['no template', { template: undefined }, ['Required spec.template']],
  ['no selector', { selector: undefined }, ['Required spec.selector']],
  ['fewer than none', { replicas: -1 }, ['Invalid spec.replicas']],
  ['a selector of others', { selector: { matchLabels: { app: 'db' } } }, ['Invalid spec.selector']],
  [
    'a malformed selector',
    { selector: { matchExpressions: [{ key: 'app', operator: 'Like' }] } },
    ['Invalid spec.selector.matchExpressions[0].operator'],
  ],
])('%s', (_, spec, expected) => {
  expect(causes(replicaSet(spec))).toEqual(expected);
});

test('what is wrong with selector, labels and template is told at once', () => {
  const template = {
    metadata: { labels: { 'kubevirt.io/nodeName': 'n' } },
    spec: { domain: { devices: { disks: [{ name: 'lost', disk: {} }] } }, terminationGracePeriodSeconds: -1 },
  };
  expect(causes(replicaSet({ template }))).toEqual(
    expect.arrayContaining([
      'Invalid spec.selector',
      'NotSupported spec.template.metadata.labels',
      'Invalid spec.template.spec.domain.devices.disks[0].name',
      'Invalid spec.template.spec.terminationGracePeriodSeconds',
    ]),
  );
});
