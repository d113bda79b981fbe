import { expect, test } from '@jest/globals';
import { matcherCauses, matcherUpdateCauses } from '../../../../api/validation/matchers.ts';
import { short } from './told.ts';

const spec = (instancetype: object): { template: object; instancetype: object } => ({ template: {}, instancetype });

test.each<[string, object, string[]]>([
  ['named', { name: 'small', kind: 'VirtualMachineInstancetype' }, []],
  ['inferred', { inferFromVolume: 'os', inferFromVolumeFailurePolicy: 'Reject' }, []],
  ['neither', { kind: 'VirtualMachineInstancetype' }, ['NotFound spec.instancetype']],
  [
    'both',
    { inferFromVolume: 'os', name: 'a', kind: 'b' },
    ['NotSupported spec.instancetype.name', 'NotSupported spec.instancetype.kind'],
  ],
  [
    'an unknown policy',
    { name: 'a', inferFromVolumeFailurePolicy: 'Shrug' },
    ['Invalid spec.instancetype.inferFromVolumeFailurePolicy'],
  ],
])('%s', (_, matcher, expected) => {
  expect(short(matcherCauses(spec(matcher)))).toEqual(expected);
});

test('another name needs another revision', () => {
  const old = spec({ name: 'a', revisionName: 'r1' });
  const causes = (matcher: object): string[] => short(matcherUpdateCauses(spec(matcher), old));
  expect(causes({ name: 'b', revisionName: 'r1' })).toEqual(['Invalid spec.instancetype.revisionName']);
  expect(causes({ name: 'b' })).toEqual([]);
  expect(causes({ name: 'a', revisionName: 'r1' })).toEqual([]);
});
