import { expect, test } from '@jest/globals';
import { outlastingSilence } from '../../../../../activities/controller/instance/outlasting.ts';
import type { PodSpec } from '../../../../../api/kubernetes/types.ts';

type Tolerations = NonNullable<PodSpec['tolerations']>;
const NOT_READY = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' };
const UNREACHABLE = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' };
const briefly = { ...UNREACHABLE, tolerationSeconds: 30 };
const other = { key: 'gpu', operator: 'Exists' };

test.each<[string, Tolerations | undefined, Tolerations]>([
  ['nothing', undefined, [NOT_READY, UNREACHABLE]],
  ['something else', [other], [other, NOT_READY, UNREACHABLE]],
  ['how long it bears one of them', [briefly], [briefly, NOT_READY]],
  ['that it bears everything', [{ operator: 'Exists' }], [{ operator: 'Exists' }]],
  [
    'that it is not scheduled to one',
    [{ ...UNREACHABLE, effect: 'NoSchedule' }],
    [{ ...UNREACHABLE, effect: 'NoSchedule' }, NOT_READY, UNREACHABLE],
  ],
])('a Pod whose VMI says %s outlasts the silence of its node', (_, tolerations, expected) => {
  const spec = { containers: [], ...(tolerations === undefined ? {} : { tolerations }) };
  expect(outlastingSilence({ metadata: { name: 'p' }, spec }).spec?.tolerations).toEqual(expected);
});

test('it selects no node by a label that changes with its silence', () => {
  const nodeSelector = { 'kubevirt.io/schedulable': 'true', 'kubernetes.io/arch': 'amd64' };
  const pod = outlastingSilence({ metadata: { name: 'p' }, spec: { containers: [], nodeSelector } });
  expect(pod.spec?.nodeSelector).toEqual({ 'kubernetes.io/arch': 'amd64' });
});
