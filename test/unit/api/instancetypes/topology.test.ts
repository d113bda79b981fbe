import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SPREADS, spreadCauses, topologyOf } from '../../../../api/instancetypes/topology.ts';
import type { PreferenceSpec } from '../../../../api/instancetypes/index.ts';
import { instancetype, preference } from './samples.ts';

const cpu = (preferredCPUTopology: string, spreadOptions?: object, rest: object = {}) =>
  preference({ cpu: { preferredCPUTopology, ...(spreadOptions === undefined ? {} : { spreadOptions }) }, ...rest });

test.each<[number, PreferenceSpec | undefined, [number, number, number]]>([
  [1, cpu('spread'), [1, 1, 1]],
  [4, undefined, [4, 1, 1]],
  [4, preference({}), [4, 1, 1]],
  [4, cpu('sockets'), [4, 1, 1]],
  [4, cpu('any'), [4, 1, 1]],
  [4, cpu('cores'), [1, 4, 1]],
  [4, cpu('preferCores'), [1, 4, 1]],
  [4, cpu('threads'), [1, 1, 4]],
  [6, cpu('spread'), [3, 2, 1]],
  [6, cpu('preferSpread', undefined, { preferSpreadSocketToCoreRatio: 3 }), [2, 3, 1]],
  [6, cpu('spread', { ratio: 6 }, { preferSpreadSocketToCoreRatio: 3 }), [1, 6, 1]],
  [6, cpu('spread', { across: 'CoresThreads' }), [1, 3, 2]],
  [12, cpu('spread', { across: 'SocketsCoresThreads', ratio: 3 }), [2, 3, 2]],
])('%i vCPUs, preferred %j: sockets, cores and threads %j', (vcpus, preferred, [sockets, cores, threads]) => {
  expect(topologyOf(vcpus, preferred)).toEqual({ sockets, cores, threads });
});

test('vCPUs that a ratio does not divide are refused, by the field that KubeVirt names', () => {
  const types = { instancetype: instancetype({ cpu: { guest: 3 } }), preference: cpu('spread') };
  expect(spreadCauses(types)).toMatchObject([{ type: 'FieldValueInvalid', field: 'instancetype.spec.cpu.guest' }]);
  expect(spreadCauses({ ...types, preference: cpu('cores') })).toEqual([]);
  expect(spreadCauses({ preference: cpu('spread') })).toEqual([]);
});

test('a guest sees all vCPUs of its instance type, whatever is preferred, or none is accepted', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 64 }),
      fc.constantFrom('sockets', 'cores', 'threads', 'spread', 'any', 'preferSpread'),
      fc.constantFrom(...SPREADS),
      fc.integer({ min: 1, max: 8 }),
      (guest, word, across, ratio) => {
        const preferred = cpu(word, { across, ratio });
        fc.pre(spreadCauses({ instancetype: instancetype({ cpu: { guest } }), preference: preferred }).length === 0);
        const { sockets, cores, threads } = topologyOf(guest, preferred);
        expect(sockets * cores * threads).toBe(guest);
        expect([sockets, cores, threads].every((level) => Number.isInteger(level) && level >= 1)).toBe(true);
      },
    ),
  );
});
