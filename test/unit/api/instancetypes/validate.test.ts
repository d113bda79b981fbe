import { expect, test } from '@jest/globals';
import {
  instancetypeCauses,
  instancetypeWarnings,
  preferenceCauses,
  preferenceWarnings,
} from '../../../../api/instancetypes/index.ts';
import { short } from '../validation/told.ts';
import { instancetype } from './samples.ts';

test.each([
  ['', {}, []],
  ['a percentage above 100', { memory: { overcommitPercent: 101 } }, ['Invalid spec.memory.overcommitPercent']],
  ['a negative one', { memory: { overcommitPercent: -1 } }, ['Invalid spec.memory.overcommitPercent']],
  [
    'overcommitted huge pages',
    { memory: { overcommitPercent: 10, hugepages: {} } },
    ['Invalid spec.memory.overcommitPercent'],
  ],
  ['no vCPU', { cpu: { guest: 0 } }, ['Invalid spec.cpu.guest']],
])('an instance type with %s', (_, type, causes) => {
  expect(short(instancetypeCauses(instancetype(type)))).toEqual(causes);
});

const spread = (spreadOptions: object) => ({ preferredCPUTopology: 'spread', spreadOptions });

test.each([
  ['an old word', { preferredCPUTopology: 'preferCores' }, []],
  ['an unknown topology', { preferredCPUTopology: 'rings' }, ['Invalid spec.cpu.preferredCPUTopology']],
  ['an unknown spread', spread({ across: 'Nodes' }), ['Invalid spec.cpu.spreadOptions.across']],
  ['four threads on a core', spread({ across: 'CoresThreads', ratio: 4 }), ['Invalid spec.cpu.spreadOptions.ratio']],
  ['a ratio of none', spread({ ratio: 0 }), ['Invalid spec.cpu.spreadOptions.ratio']],
  ['a ratio', spread({ across: 'SocketsCoresThreads', ratio: 4 }), []],
  ['a spread of something that is not spread', { spreadOptions: { across: 'Nodes' } }, []],
])('a preference with %s', (_, cpu, causes) => {
  expect(short(preferenceCauses({ cpu }))).toEqual(causes);
});

test('what is deprecated is told', () => {
  expect(preferenceWarnings({ cpu: { preferredCPUTopology: 'preferSpread' } })).toMatchObject([
    { message: 'deprecated: write spread' },
  ]);
  expect(preferenceWarnings({ cpu: { preferredCPUTopology: 'spread' } })).toEqual([]);
  expect(instancetypeWarnings(instancetype({ launchSecurity: { sev: {} } }))).toHaveLength(1);
  expect(instancetypeWarnings(instancetype())).toEqual([]);
});
