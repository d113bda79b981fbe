import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CpuPool } from '../../../../launcher/converter/cpu-pool.ts';

const cells = (count: number, cores: number, threads: number) =>
  Array.from({ length: count }, (_, id) => ({
    id,
    cpus: Array.from({ length: cores * threads }, (_, n) => {
      const first = id * cores * threads + n - (n % threads);
      return { id: first + (n % threads), siblings: Array.from({ length: threads }, (_, t) => first + t) };
    }),
  }));

test('a CPU is never given twice, and only CPUs of the set are given', () => {
  const shape = fc.record({
    cpuSet: fc.uniqueArray(fc.integer({ min: 0, max: 15 }), { maxLength: 16 }),
    threads: fc.constantFrom(1, 2, 3),
    cores: fc.integer({ min: 1, max: 6 }),
    strict: fc.boolean(),
  });
  fc.assert(
    fc.property(shape, ({ cpuSet, threads, cores, strict }) => {
      const pool = new CpuPool(cells(2, 4, 2), cpuSet, threads, strict);
      const given = pool.takeCores({ sockets: 1, cores, threads }) ?? [];
      for (let next = pool.takeThread(); next !== undefined; next = pool.takeThread()) given.push(next);
      expect(new Set(given).size).toBe(given.length);
      expect(given.filter((cpu) => !cpuSet.includes(cpu))).toEqual([]);
    }),
  );
});

test('cores that may not straddle cells are refused where relaxed ones fit', () => {
  const take = (strict: boolean) =>
    new CpuPool(cells(2, 1, 2), [0, 2], 2, strict).takeCores({ sockets: 1, cores: 1, threads: 2 });
  expect([take(true), take(false)]).toEqual([undefined, [0, 2]]);
});
