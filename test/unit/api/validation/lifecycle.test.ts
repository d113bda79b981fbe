import { expect, test } from '@jest/globals';
import { lifecycleRules } from '../../../../api/validation/lifecycle.ts';
import { ofDomain } from './told.ts';

test.each<[string, object, object, string[]]>([
  ['known', { evictionStrategy: 'External', startStrategy: 'Paused' }, { ioThreadsPolicy: 'auto' }, []],
  ['an unknown eviction', { evictionStrategy: 'Sometimes' }, {}, ['Invalid spec.evictionStrategy']],
  ['an unknown start', { startStrategy: 'Frozen' }, {}, ['Invalid spec.startStrategy']],
  ['paused and probed', { startStrategy: 'Paused', livenessProbe: { exec: {} } }, {}, ['Invalid spec.startStrategy']],
  ['unknown threads', {}, { ioThreadsPolicy: 'several' }, ['Invalid spec.domain.ioThreadsPolicy']],
  ['a pool', {}, { ioThreadsPolicy: 'supplementalPool', ioThreads: { supplementalPoolThreadCount: 1 } }, []],
  ['a pool of none', {}, { ioThreadsPolicy: 'supplementalPool' }, ['Invalid spec.domain.ioThreads.count']],
])('%s', (_, spec, domain, expected) => {
  expect(ofDomain(lifecycleRules, domain, spec)).toEqual(expected);
});
