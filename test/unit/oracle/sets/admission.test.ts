import { describe, expect, test } from '@jest/globals';
import { compareAdmission, type AdmissionCase, type Answer } from '../../../oracle/sets/admission.ts';

const spec = { domain: { devices: {}, memory: { guest: '1Gi' } } };
const vmi = (change: object, result: Answer, more: Partial<AdmissionCase> = {}): AdmissionCase => ({
  ...{ id: 'x', kind: 'vmi', result },
  input: { metadata: { name: 'web', namespace: 'shop' }, spec: { ...spec, ...change } },
  ...more,
});
const refused = (...causes: [string, string][]): Answer => ({
  ...{ allowed: false, code: 422 },
  causes: causes.map(([type, field]) => ({ type, field })),
});
const HOSTNAME: [string, string] = ['FieldValueInvalid', 'spec.hostname'];

test.each<[string, AdmissionCase]>([
  ['both take it', vmi({}, { allowed: true })],
  ['both refuse it for the same field', vmi({ hostname: 'A' }, refused(HOSTNAME))],
])('equal: %s', (_, testCase) => {
  expect(compareAdmission(testCase)).toEqual({ kind: 'equal' });
});

test.each<[string, AdmissionCase]>([
  ['only KubeVirt refuses', vmi({}, refused(HOSTNAME))],
  ['only virtflow refuses', vmi({ hostname: 'A' }, { allowed: true })],
  ['another field', vmi({ hostname: 'A' }, refused(['FieldValueInvalid', 'spec.subdomain']))],
  ['another type', vmi({ hostname: 'A' }, refused(['FieldValueRequired', 'spec.hostname']))],
  ['a cause more', vmi({ hostname: 'A', subdomain: 'B' }, refused(HOSTNAME))],
  ['what fails later, and more', vmi({ terminationGracePeriodSeconds: -1, hostname: 'A' }, { allowed: true })],
  ['another code', vmi({ hostname: 'A' }, { ...refused(HOSTNAME), code: 409 })],
])('different: %s', (_, testCase) => {
  expect(compareAdmission(testCase).kind).toBe('different');
});

describe('listed', () => {
  test.each<[string, AdmissionCase]>([
    ['shape-names-the-field', vmi({ domain: {} }, refused(['', '']))],
    ['shape-names-the-field', vmi({ domain: { devices: {}, memory: { guest: 'x' } } }, { allowed: false, code: 400 })],
    ['every-cause-has-a-field', vmi({ domain: { devices: {} } }, refused(['FieldValueRequired', '']))],
    [
      'fields-are-paths',
      vmi(
        { domain: { ...spec.domain, devices: { disks: [{ name: 'A', cdrom: {} }] } } },
        refused(['FieldValueInvalid', 'spec.domain.devices.disks.domain.devices.disks[0].name']),
      ),
    ],
    ['refused-before-it-fails', vmi({ terminationGracePeriodSeconds: -1 }, { allowed: true })],
    ['refused-before-it-fails', vmi({ terminationGracePeriodSeconds: -1, hostname: 'A' }, refused(HOSTNAME))],
    ['answers-instead-of-crashing', vmi({ hostname: 'A' }, { allowed: false, panic: 'boom' })],
  ])('%s', (rule, testCase) => {
    expect(compareAdmission(testCase)).toEqual({ kind: 'listed', rules: [rule] });
  });

  test('all-causes-at-once', () => {
    const tolerations = Array.from({ length: 11 }, () => ({ operator: 'Like' }));
    const told = tolerations.map((_, at): [string, string] => [
      'FieldValueNotSupported',
      `spec.tolerations[${at}].operator`,
    ]);
    expect(compareAdmission(vmi({ tolerations }, refused(...told.slice(0, 10))))).toEqual({
      kind: 'listed',
      rules: ['all-causes-at-once'],
    });
    expect(compareAdmission(vmi({ tolerations }, refused(...told.slice(0, 9)))).kind).toBe('different');
  });

  test('state-of-others-names-the-field', () => {
    const input = { metadata: { name: 'move', namespace: 'shop' }, spec: { vmiName: 'lost' } };
    const cluster = { vmis: [], migrations: [] };
    const testCase: AdmissionCase = { id: 'x', kind: 'vmim', input, cluster, result: { allowed: false, code: 400 } };
    expect(compareAdmission(testCase)).toEqual({ kind: 'listed', rules: ['state-of-others-names-the-field'] });
    expect(compareAdmission({ ...testCase, result: { allowed: true } }).kind).toBe('different');
  });
});

test('the user is heeded, and what a case departs from', () => {
  const labelled = vmi({}, { allowed: true });
  const input = { metadata: { name: 'web', labels: { 'kubevirt.io/nodeName': 'n' } }, spec };
  expect(compareAdmission({ ...labelled, input }).kind).toBe('different');
  const user = 'system:serviceaccount:kubevirt:kubevirt-controller';
  expect(compareAdmission({ ...labelled, input, user })).toEqual({ kind: 'equal' });
  const vsock = { domain: { ...spec.domain, devices: { autoattachVSOCK: true } } };
  expect(compareAdmission(vmi(vsock, { allowed: true }, { featureGates: ['VSOCK'] }))).toEqual({ kind: 'equal' });
});
