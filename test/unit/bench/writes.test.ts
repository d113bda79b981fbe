import { expect, test } from '@jest/globals';
import { countStart } from '../../bench/writes.ts';

const write = (resource: string, second: number, status = 200) => ({
  ...{ verb: 'patch', resource, name: 'vm', user: 'virtflow', status },
  at: new Date(second * 1000).toISOString(),
});

test('a start is counted up to the write that says Running, on the VMI and then on the VM', () => {
  const writes = [
    write('virtualmachines', 1),
    { ...write('virtualmachineinstances', 1), verb: 'create' },
    write('virtualmachineinstances', 2),
    write('virtualmachineinstances', 3),
    write('pods/status', 4),
    write('virtualmachines/status', 5),
    write('virtualmachineinstances', 20),
    write('virtualmachines/status', 21),
  ];
  expect(countStart(writes, 3500)).toEqual({ vmi: 2, all: 6, conflicts: 0 });
});

test('a write that the API server refused as outdated is a conflict', () => {
  expect(countStart([write('virtualmachineinstances', 1, 409)], 2000).conflicts).toBe(1);
});
