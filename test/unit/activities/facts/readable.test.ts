import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from '@jest/globals';
import { readableInstance, readableVirtualMachine } from '../../../../activities/facts/readable.ts';
import type { VirtualMachine } from '../../../../api/kubevirt/types.ts';
import { instance } from '../../../support/instances.ts';

const failureOf = (read: () => unknown): unknown => {
  try {
    read();
  } catch (error) {
    return error instanceof ApplicationFailure
      ? { type: error.type, again: error.nonRetryable !== true, message: error.message }
      : error;
  }
  return undefined;
};

test('a field of a wrong type is an invalid spec, named and not retried', () => {
  const vmi = instance({ domain: { devices: { disks: {} } } });
  expect(failureOf(() => readableInstance(vmi))).toEqual({
    type: 'InvalidSpec',
    again: false,
    message: expect.stringContaining('VirtualMachineInstance shop/web cannot be read: spec.domain.devices.disks: '),
  });
});

test('so it is in the template of a VM', () => {
  const vm = {
    metadata: { name: 'web' },
    spec: { template: { spec: { volumes: 'none' } } },
  } as unknown as VirtualMachine;
  expect(failureOf(() => readableVirtualMachine(vm))).toMatchObject({
    type: 'InvalidSpec',
    message: expect.stringContaining('spec.template.spec.volumes'),
  });
});

test('a readable object passes', () => {
  expect(readableInstance(instance({ later: 1 }))).toEqual(instance({ later: 1 }));
});
