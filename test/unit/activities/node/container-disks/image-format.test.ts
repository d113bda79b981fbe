import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { HEADER_BYTES, inspectImage } from '../../../../../activities/node/container-disks/image-format.ts';

const qcow = (version: number, backing = 0n, features = 0): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('QFI\xfb', 'latin1');
  header.writeUInt32BE(version, 4);
  header.writeBigUInt64BE(backing, 8);
  header.writeUInt32BE(features, 76);
  return header;
};

const withMagic = (magic: string, offset = 0): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(magic, offset, 'latin1');
  return header;
};

test.each([
  ['a boot sector', Buffer.alloc(HEADER_BYTES, 0xeb), 'raw'],
  ['a file of a few bytes', Buffer.from('hi'), 'raw'],
  ['qcow2 version 2', qcow(2), 'qcow2'],
  ['qcow2 version 3', qcow(3), 'qcow2'],
  ['qcow2 with lazy refcounts left dirty', qcow(3, 0n, 1), 'qcow2'],
])('%s is accepted', (_, header, format) => {
  expect(inspectImage(header)).toEqual({ format });
});

test.each([
  ['qcow2 with a backing file', qcow(3, 0x200n), /backing file.*qemu-img convert/],
  ['qcow2 version 2 with a backing file', qcow(2, 0x70n), /backing file/],
  ['qcow2 with an external data file', qcow(3, 0n, 4), /external data file/],
  ['qcow version 1', qcow(1), /version 1/],
  ['a cut qcow2 header', qcow(3).subarray(0, 60), /cut off/],
  ['VMDK', withMagic('KDMV'), /VMDK/],
  ['a VMDK descriptor', withMagic('# Disk DescriptorFile'), /VMDK/],
  ['VHDX', withMagic('vhdxfile'), /VHDX/],
  ['QED', withMagic('QED\0'), /QED/],
  ['VDI', withMagic('\x7f\x10\xda\xbe', 0x40), /VDI/],
])('%s is refused', (_, header, why) => {
  expect(inspectImage(header)).toEqual({ refused: expect.stringMatching(why) });
});

const directory = mkdtempSync(join(tmpdir(), 'images-'));
afterAll(() => rmSync(directory, { recursive: true }));

const qemuImg = (...args: string[]): Buffer => {
  const file = join(directory, `${args.join('-').replaceAll(/[^a-z0-9]/g, '')}`);
  execFileSync('qemu-img', ['create', '-q', ...args, file, '1M']);
  return readFileSync(file).subarray(0, HEADER_BYTES);
};

test('what qemu-img makes is told apart', () => {
  expect(inspectImage(qemuImg('-f', 'qcow2'))).toEqual({ format: 'qcow2' });
  const dataFile = join(directory, 'data');
  expect(inspectImage(qemuImg('-f', 'qcow2', '-o', `data_file=${dataFile}`))).toHaveProperty('refused');
  expect(inspectImage(qemuImg('-f', 'vmdk'))).toHaveProperty('refused');
  expect(inspectImage(qemuImg('-f', 'vdi'))).toHaveProperty('refused');
  expect(inspectImage(qemuImg('-f', 'vhdx'))).toHaveProperty('refused');
});
