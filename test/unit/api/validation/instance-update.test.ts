import { expect, test } from '@jest/globals';
import { validateInstanceUpdate } from '../../../../api/validation/index.ts';
import { SYSTEM, USER } from '../../../../api/validation/requester.ts';
import { instance, withDomain } from '../../../support/instances.ts';
import { short } from './told.ts';

const before = withDomain({ cpu: { maxSockets: 4 }, memory: { guest: '1Gi', maxGuest: '4Gi' } });

test.each<[string, object, string[], string[]]>([
  ['nothing', withDomain({ memory: { maxGuest: '4Gi', guest: '1Gi' }, cpu: { maxSockets: 4 } }), [], []],
  [
    'the guest',
    withDomain({ cpu: { maxSockets: 4 }, memory: { guest: '2Gi', maxGuest: '4096Mi' } }),
    ['NotSupported spec'],
    [],
  ],
  [
    'its bounds',
    withDomain({ cpu: { maxSockets: 8 }, memory: { guest: '1Gi', maxGuest: '8Gi' } }),
    ['NotSupported spec'],
    ['Invalid spec.domain.cpu.maxSockets', 'Invalid spec.domain.memory.maxGuest'],
  ],
])('changing %s', (_, after, ofUser, ofSystem) => {
  expect(short(validateInstanceUpdate(after as typeof before, before, USER))).toEqual(ofUser);
  expect(short(validateInstanceUpdate(after as typeof before, before, SYSTEM))).toEqual(ofSystem);
});

test('labels are free, reserved ones are not', () => {
  const labelled = (labels: object): typeof before => instance({}, { labels });
  const node = labelled({ 'kubevirt.io/nodeName': 'n1' });
  expect(validateInstanceUpdate(labelled({ app: 'web' }), labelled({}))).toEqual([]);
  expect(short(validateInstanceUpdate(labelled({}), node))).toEqual(['NotSupported metadata.labels']);
  expect(validateInstanceUpdate(labelled({}), node, SYSTEM)).toEqual([]);
});
