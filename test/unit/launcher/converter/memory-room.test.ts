import { expect, test } from '@jest/globals';
import { toDomain } from '../../../../launcher/converter/index.ts';
import { withMemoryRoom } from '../../../../launcher/converter/memory-room.ts';
import type { Domain } from '../../../../launcher/converter/domain.ts';
import { host, vmi } from './examples.ts';

const GIB = 2 ** 30;
const withRoom = (memory: object, cpu: object = {}): Domain =>
  withMemoryRoom(toDomain(vmi({ domain: { memory, cpu: { sockets: 1, cores: 2, threads: 1, ...cpu } } }), host()));

test('room to grow takes a slot, and a NUMA cell with every CPU that may come', () => {
  const { maxMemory, cpu } = withRoom({ guest: '1Gi', maxGuest: '4Gi' }, { maxSockets: 4 });
  expect(maxMemory).toEqual({ '@unit': 'b', '@slots': 1, '#text': 4 * GIB });
  expect(cpu.numa).toEqual({ cell: [{ '@id': 0, '@cpus': '0-7', '@memory': 2 ** 20, '@unit': 'KiB' }] });
});

test('a cell that is there stays as it is', () => {
  const memory = { guest: '1Gi', maxGuest: '2Gi', hugepages: { pageSize: '2Mi' } };
  const before = toDomain(vmi({ domain: { memory } }), host());
  expect(before.cpu.numa?.cell).toHaveLength(1);
  expect(withMemoryRoom(before).cpu).toEqual(before.cpu);
});

test.each([
  ['nobody asks for it', { guest: '1Gi' }],
  ['there is nothing to grow into', { guest: '1Gi', maxGuest: '1Gi' }],
  ['QEMU could not address it', { guest: '256Gi', maxGuest: '1Ti' }],
])('no room where %s', (_, memory) => {
  const { maxMemory, cpu } = withRoom(memory);
  expect([maxMemory, cpu.numa]).toEqual([undefined, undefined]);
});
