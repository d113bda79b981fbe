import { expect, test } from '@jest/globals';
import { numa, numaCells } from '../../../../../launcher/converter/concerns/numa.ts';
import { pinning } from '../../../../../launcher/converter/concerns/pinning.ts';
import { host, vmi } from '../examples.ts';

/** Two cells of two cores with two threads each: 0-3 and 4-7. */
const numaHost = (cpuSet: number[]) =>
  host({
    cpuSet,
    numaCells: [0, 4].map((first, id) => ({
      id,
      cpus: [0, 1, 2, 3].map((n) => ({ id: first + n, siblings: [first + n - (n % 2), first + n - (n % 2) + 1] })),
    })),
  });

const dedicated = (cpu: object, rest: object = {}, annotations: Record<string, string> = {}) =>
  vmi({ domain: { cpu: { dedicatedCpuPlacement: true, ...cpu }, ...rest }, metadata: { annotations } });

const pins = (...args: [Parameters<typeof pinning>[0], number[]]) => {
  const tune = pinning(args[0], numaHost(args[1])).cputune;
  return {
    vcpus: tune?.vcpupin.map((pin) => pin['@cpuset']).join(' '),
    emulator: tune?.emulatorpin?.['@cpuset'],
    io: tune?.iothreadpin?.map((pin) => pin['@cpuset']).join(' '),
  };
};

test('without dedicated CPUs nothing is pinned', () => {
  expect(pinning(vmi(), numaHost([0, 1]))).toEqual({});
});

test.each`
  cpu                              | cpuSet       | vcpus    | why
  ${{ cores: 2 }}                  | ${[0, 1, 2]} | ${'0 1'} | ${'single threads take what comes first'}
  ${{ cores: 1, threads: 2 }}      | ${[1, 2, 3]} | ${'2 3'} | ${'two threads want a whole core'}
  ${{ cores: 1, threads: 2 }}      | ${[1, 2]}    | ${'1 2'} | ${'or else a broken one of the same cell'}
  ${{ cores: 1, threads: 2 }}      | ${[1, 4]}    | ${'1 4'} | ${'or else of two cells'}
  ${{ sockets: 1, maxSockets: 4 }} | ${[5]}       | ${'5'}   | ${'sockets to be plugged in need no CPU yet'}
`('$cpu on $cpuSet: $vcpus, for $why', ({ cpu, cpuSet, vcpus }) => {
  expect(pins(dedicated(cpu as object), cpuSet as number[]).vcpus).toBe(vcpus);
});

test('too few CPUs are refused, naming them', () => {
  expect(() => pins(dedicated({ cores: 3 }), [0, 1])).toThrow(/spec\.domain\.cpu: .*0, 1.*3 vCPUs/);
});

test('the emulator thread gets a CPU of its own, and a second one where the number shall be even', () => {
  const cpu = { cores: 2, isolateEmulatorThread: true };
  const even = { 'alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity': '' };
  expect(pins(dedicated(cpu), [0, 1, 2, 3]).emulator).toBe('2');
  expect(pins(dedicated(cpu, {}, even), [0, 1, 2, 3]).emulator).toBe('2,3');
  expect(pins(dedicated({ ...cpu, cores: 3 }, {}, even), [0, 1, 2, 3]).emulator).toBe('3');
});

test.each`
  cpu                                          | rest                                                                                      | io           | why
  ${{ cores: 2, isolateEmulatorThread: true }} | ${{ ioThreadsPolicy: 'auto' }}                                                            | ${'2'}       | ${'with the emulator'}
  ${{ cores: 4 }}                              | ${{ ioThreadsPolicy: 'shared' }}                                                          | ${'0,1,2,3'} | ${'on all vCPUs'}
  ${{ cores: 1 }}                              | ${{ ioThreadsPolicy: 'shared' }}                                                          | ${'0'}       | ${'in turn'}
  ${{ cores: 2 }}                              | ${{ ioThreadsPolicy: 'supplementalPool', ioThreads: { supplementalPoolThreadCount: 2 } }} | ${'2 3'}     | ${'on CPUs of their own'}
`('IO threads run $why', ({ cpu, rest, io }) => {
  const disks = { devices: { disks: [{ name: 'a', disk: { bus: 'virtio' } }] } };
  expect(pins(dedicated(cpu as object, { ...disks, ...(rest as object) }), [0, 1, 2, 3, 4]).io).toBe(io);
});

test('a passed-through NUMA topology binds each cell to the host cell of its vCPUs', () => {
  const instance = dedicated(
    { cores: 3, numa: { guestMappingPassthrough: {} } },
    { memory: { guest: '10Mi', hugepages: { pageSize: '2Mi' } } },
  );
  const facts = numaHost([2, 3, 4]);
  expect(numaCells(instance, facts).map((cell) => [cell['@cpus'], cell['@memory']])).toEqual([
    ['0,1', 3 * 2 ** 21],
    ['2', 2 * 2 ** 21],
  ]);
  expect(numa(instance, facts).numatune).toEqual({
    memory: { '@mode': 'strict', '@nodeset': '0,1' },
    memnode: [
      { '@cellid': 0, '@mode': 'strict', '@nodeset': 0 },
      { '@cellid': 1, '@mode': 'strict', '@nodeset': 1 },
    ],
  });
});

test('a passed-through NUMA topology needs huge pages, and whole ones', () => {
  const cpu = { cores: 2, numa: { guestMappingPassthrough: {} } };
  expect(() => numa(dedicated(cpu), numaHost([0, 1]))).toThrow(/hugepages/);
  const odd = { memory: { guest: '3Mi', hugepages: { pageSize: '2Mi' } } };
  expect(() => numa(dedicated(cpu, odd), numaHost([0, 1]))).toThrow(/multiple of the page size/);
});
