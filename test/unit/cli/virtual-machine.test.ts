import { expect, test } from '@jest/globals';
import { runStrategyOf } from '../../../cli/virtual-machine.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';

const vm = (spec: Partial<VirtualMachine['spec']>): VirtualMachine => ({
  spec: { template: {}, ...spec },
});

test.each`
  spec                         | strategy
  ${{ running: true }}         | ${'Always'}
  ${{ running: false }}        | ${'Halted'}
  ${{ runStrategy: 'Always' }} | ${'Always'}
  ${{ runStrategy: 'Once' }}   | ${'Once'}
`('$spec is strategy $strategy', ({ spec, strategy }) => {
  expect(runStrategyOf(vm(spec as object))).toBe(strategy);
});
