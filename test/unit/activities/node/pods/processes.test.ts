import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { isQemu, parseStat, processTable } from '../../../../../activities/node/pods/processes.ts';

const uid = '0f3c2f6e-8a5e-4a8e-9a43-5b1f6f2f9c11';
let proc: string;

beforeEach(async () => {
  proc = await mkdtemp(join(tmpdir(), 'proc-'));
});
afterEach(() => rm(proc, { recursive: true }));

const stat = (pid: number, command: string, state: string, threads: number, startTime: number): string =>
  `${pid} (${command}) ${state} 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 ${threads} 0 ${startTime} 1 1`;

const process = async (pid: number, cgroup: string, state = 'S', threads = 1, command = 'sh'): Promise<void> => {
  await mkdir(join(proc, String(pid)));
  await writeFile(join(proc, String(pid), 'comm'), `${command}\n`);
  await writeFile(join(proc, String(pid), 'cgroup'), cgroup);
  await writeFile(join(proc, String(pid), 'stat'), stat(pid, command, state, threads, 1000 - pid));
};

/** Ticks after boot. */
const started = (pid: number, ticks: number): Promise<void> =>
  writeFile(join(proc, String(pid), 'stat'), stat(pid, 'sh', 'S', 1, ticks));

test('finds the living processes of a Pod, oldest first', async () => {
  await process(10, `0::/kubepods/pod${uid}/a`);
  await process(20, `0::/kubepods/pod${uid}/b`, 'R', 5, 'qemu-system-x86');
  await process(30, '0::/init.scope');
  await writeFile(join(proc, 'uptime'), '1');
  const found = await processTable(proc).ofPod(uid);
  expect(found.map(({ pid }) => pid)).toEqual([20, 10]);
  expect(found.filter(isQemu).map(({ pid }) => pid)).toEqual([20]);
});

test('a zombie is dead, unless a thread of it still runs', async () => {
  await process(10, `0::/kubepods/pod${uid}/a`, 'Z');
  await process(20, `0::/kubepods/pod${uid}/a`, 'Z', 3, 'qemu-system-x86');
  expect((await processTable(proc).ofPod(uid)).map(({ pid }) => pid)).toEqual([20]);
});

test('a process that ends while it is read is not there', async () => {
  await mkdir(join(proc, '10'));
  await writeFile(join(proc, '10', 'cgroup'), `0::/kubepods/pod${uid}/a`);
  expect(await processTable(proc).ofPod(uid)).toEqual([]);
});

test('who looks again and again sees each process that comes into the Pod, also one that started outside of it', async () => {
  await writeFile(join(proc, 'uptime'), '100.00 1.00');
  await process(10, '0::/init.scope');
  await process(20, `0::/kubepods/podaaaaaaaa-8a5e-4a8e-9a43-5b1f6f2f9c11/a`);
  await process(30, '0::/system.slice/containerd.service');
  await started(30, 9990);
  const table = processTable(proc);
  expect(await table.seenOfPod(uid)).toEqual([]);
  await process(40, `0::/kubepods/pod${uid}/a`);
  await writeFile(join(proc, '30', 'cgroup'), `0::/kubepods/pod${uid}/b`);
  expect((await table.seenOfPod(uid)).map(({ pid }) => pid)).toEqual([40, 30]);
});

test('who looks again and again does not look at an old process outside of Pods any more, until it is gone', async () => {
  await writeFile(join(proc, 'uptime'), '100.00 1.00');
  await process(10, '0::/init.scope');
  const table = processTable(proc);
  await table.seenOfPod(uid);
  await writeFile(join(proc, '10', 'cgroup'), `0::/kubepods/pod${uid}/a`);
  expect(await table.seenOfPod(uid)).toEqual([]);
  expect((await table.ofPod(uid)).map(({ pid }) => pid)).toEqual([10]);
  await rm(join(proc, '10'), { recursive: true });
  await table.seenOfPod(uid);
  await process(10, `0::/kubepods/pod${uid}/a`);
  expect((await table.seenOfPod(uid)).map(({ pid }) => pid)).toEqual([10]);
});

test('finds the living QEMUs of a Pod alone', async () => {
  const qemu = 'qemu-system-x86';
  await process(10, `0::/kubepods/pod${uid}/a`);
  await process(20, `0::/kubepods/pod${uid}/b`, 'R', 5, qemu);
  await process(30, `0::/kubepods/pod${uid}/b`, 'Z', 1, qemu);
  await process(40, `0::/kubepods/pod${uid}/b`, 'Z', 2, qemu);
  await process(50, '0::/kubepods/podother/b', 'S', 1, qemu);
  await mkdir(join(proc, '60'));
  await writeFile(join(proc, '60', 'comm'), qemu);
  expect(
    processTable(proc)
      .qemuOf(uid)
      .map(({ pid }) => pid),
  ).toEqual([40, 20]);
});

test('a program name may hold blanks and parentheses', () => {
  expect(parseStat(stat(7, 'a) b (c', 'S', 2, 99))).toEqual({
    command: 'a) b (c',
    state: 'S',
    threads: 2,
    startTime: 99,
  });
});
