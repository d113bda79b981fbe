import { expect, test } from '@jest/globals';
import { runStrategyOf, runStrategyPatch } from '../../../cli/virtual-machine.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';

const vm = (spec: Partial<VirtualMachine['spec']>): VirtualMachine => ({
  spec: { template: {}, ...spec },
});

test.each`
  spec                         | strategy    | toHalted
  ${{ running: true }}         | ${'Always'} | ${{ running: false }}
  ${{ running: false }}        | ${'Halted'} | ${{ running: false }}
  ${{ runStrategy: 'Always' }} | ${'Always'} | ${{ runStrategy: 'Halted' }}
  ${{ runStrategy: 'Once' }}   | ${'Once'}   | ${{ runStrategy: 'Halted' }}
`('$spec is strategy $strategy and is halted in the form its owner chose', ({ spec, strategy, toHalted }) => {
  expect(runStrategyOf(vm(spec as object))).toBe(strategy);
  expect(runStrategyPatch(vm(spec as object), 'Halted')).toEqual({ spec: toHalted as object });
});
