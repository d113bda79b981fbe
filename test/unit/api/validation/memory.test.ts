import { expect, test } from '@jest/globals';
import { memoryIsThere, memoryRules } from '../../../../api/validation/memory.ts';
import { configured, gated } from '../../../support/instances.ts';
import { ofDomain } from './told.ts';

const REQUEST = 'Invalid spec.domain.resources.requests.memory';
const resources = (requests: object, limits: object = {}): object => ({ resources: { requests, limits } });

test.each<[string, object, string[]]>([
  ['a request', resources({ memory: '1Gi' }), []],
  ['a request of nothing', resources({ memory: '0' }), []],
  ['a negative request', resources({ memory: '-1Gi' }), [REQUEST]],
  ['a request below a megabyte', resources({ memory: '999k' }), [REQUEST]],
  ['a negative limit', resources({}, { memory: '-1' }), ['Invalid spec.domain.resources.limits.memory']],
  ['a request above its limit', resources({ memory: '2Gi' }, { memory: '1Gi' }), [REQUEST]],
  ['whole pages', { memory: { guest: '64Mi', hugepages: { pageSize: '2Mi' } } }, []],
  ['no whole pages', { memory: { guest: '65Mi', hugepages: { pageSize: '2Mi' } } }, [REQUEST]],
  ['less than a page', { memory: { guest: '64Mi', hugepages: { pageSize: '1Gi' } } }, [REQUEST]],
  [
    'the request is what pages back',
    { memory: { guest: '65Mi', hugepages: { pageSize: '2Mi' } }, ...resources({ memory: '66Mi' }) },
    [],
  ],
  [
    'pages of a nonsense size',
    { memory: { hugepages: { pageSize: 'big' } } },
    ['Invalid spec.domain.memory.hugepages.pageSize'],
  ],
])('%s', (_, domain, expected) => {
  expect(ofDomain(memoryRules, domain)).toEqual(expected);
});

test('a guest above its limit is refused where changes wait for a restart', () => {
  const domain = { memory: { guest: '2Gi' }, ...resources({}, { memory: '1Gi' }) };
  expect(ofDomain(memoryRules, domain)).toEqual([]);
  expect(ofDomain(memoryRules, domain, {}, configured({ vmRolloutStrategy: 'Stage' }))).toEqual([
    'Invalid spec.domain.memory.guest',
  ]);
});

test('reserved overhead has a gate', () => {
  const domain = { memory: { guest: '1Gi', reservedOverhead: { addedOverhead: '64Mi' } } };
  expect(ofDomain(memoryRules, domain)).toEqual(['Invalid spec.domain.memory.reservedOverhead']);
  expect(ofDomain(memoryRules, domain, {}, gated(['ReservedOverheadMemlock']))).toEqual([]);
});

test.each<[string, object, boolean]>([
  ['nothing', {}, false],
  ['a limit alone', resources({}, { memory: '1Gi' }), false],
  ['a request', resources({ memory: '1Gi' }), true],
  ['the guest', { memory: { guest: '1Gi' } }, true],
  ['pages', { memory: { hugepages: { pageSize: '2Mi' } } }, true],
])('memory is there by %s', (_, domain, isThere) => {
  expect(ofDomain(memoryIsThere, domain)).toEqual(isThere ? [] : ['Required spec.domain.memory.guest']);
});
