/** Bytes of an image's head that `inspectImage` wants: as far as the VDI signature and the fields of a qcow2 header reach. */
export const HEADER_BYTES = 512;

export type ImageVerdict = { format: 'raw' | 'qcow2' } | { refused: string };

/** Formats that QEMU would know by their first bytes and that are not supported as container disks. */
const OTHERS: { name: string; offset: number; magic: Buffer }[] = [
  { name: 'VMDK', offset: 0, magic: Buffer.from('KDMV') },
  { name: 'VMDK', offset: 0, magic: Buffer.from('COWD') },
  { name: 'VMDK', offset: 0, magic: Buffer.from('# Disk DescriptorFile') },
  { name: 'VHDX', offset: 0, magic: Buffer.from('vhdxfile') },
  { name: 'VHD', offset: 0, magic: Buffer.from('conectix') },
  { name: 'QED', offset: 0, magic: Buffer.from('QED\0') },
  { name: 'VDI', offset: 0x40, magic: Buffer.from([0x7f, 0x10, 0xda, 0xbe]) },
];

/** qcow2 header (QEMU's docs/interop/qcow2.txt): big-endian; all versions begin alike. */
const QCOW = { magic: Buffer.from([0x51, 0x46, 0x49, 0xfb]), version: 4, backingOffset: 8, incompatible: 72 };
/** Bit 2 of a version 3 image's incompatible features: the guest's data lie in another file. */
const EXTERNAL_DATA = 0b100;

/**
 * Tells raw and qcow2 apart and refuses what could make QEMU open another file: a backing file or an external data file named by the image,
 * and formats that are not supported. Whatever has no known signature is raw.
 */
export const inspectImage = (header: Buffer): ImageVerdict => {
  const other = OTHERS.find(({ offset, magic }) => hasMagic(header, magic, offset));
  if (other !== undefined) return { refused: `it is a ${other.name} image: convert it to raw or qcow2` };
  if (!hasMagic(header, QCOW.magic, 0)) return { format: 'raw' };
  if (header.length < QCOW.incompatible + 8) return { refused: 'its qcow2 header is cut off' };
  const version = header.readUInt32BE(QCOW.version);
  if (version !== 2 && version !== 3)
    return { refused: `it is a qcow image of version ${version}: use version 2 or 3` };
  if (header.readBigUInt64BE(QCOW.backingOffset) !== 0n) {
    return { refused: 'it is a qcow2 image with a backing file: flatten it with qemu-img convert' };
  }
  const features = version === 3 ? header.readUInt32BE(QCOW.incompatible + 4) : 0;
  if ((features & EXTERNAL_DATA) !== 0) {
    return { refused: 'it is a qcow2 image with an external data file: flatten it with qemu-img convert' };
  }
  return { format: 'qcow2' };
};

const hasMagic = (header: Buffer, magic: Buffer, offset: number): boolean =>
  header.subarray(offset, offset + magic.length).equals(magic);
