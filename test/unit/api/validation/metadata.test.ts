import { expect, test } from '@jest/globals';
import { metadataCauses, reservedLabels } from '../../../../api/validation/metadata.ts';
import { SYSTEM, USER } from '../../../../api/validation/requester.ts';
import { configured, gated } from '../../../support/instances.ts';
import { short } from './told.ts';

test('reserved labels are the system’s', () => {
  const labels = { app: 'web', 'kubevirt.io/free': 'x', 'kubevirt.io/nodeName': 'n1' };
  expect(short(metadataCauses({ labels }, configured(), USER))).toEqual(['NotSupported metadata.labels']);
  expect(metadataCauses({ labels }, configured(), SYSTEM)).toEqual([]);
  expect(reservedLabels(labels)).toEqual({ 'kubevirt.io/nodeName': 'n1' });
});

test.each([
  ['kubevirt.io/ignitiondata', 'ExperimentalIgnitionSupport'],
  ['hooks.kubevirt.io/hookSidecars', 'Sidecar'],
])('annotation %s needs gate %s', (annotation, gate) => {
  const annotations = { [annotation]: 'x' };
  expect(short(metadataCauses({ annotations }, configured(), USER))).toEqual(['Invalid metadata.annotations']);
  expect(metadataCauses({ annotations }, gated([gate]), USER)).toEqual([]);
  expect(metadataCauses({ annotations: { [annotation]: '' } }, configured(), USER)).toEqual([]);
});
