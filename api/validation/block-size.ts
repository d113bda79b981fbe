import type { Disk } from '../kubevirt/types.ts';
import type { Cause } from './cause.ts';
import { invalid, when } from './cause.ts';

const MIN = 512;
const MAX = 2 ** 21;

/** Sizes of blocks: the volume's own, or powers of two that fit each other. The first contradiction is told. */
export const blockSizeCauses = ({ blockSize, cdrom, disk, lun }: Disk, field: string): Cause[] => {
  const { custom, matchVolume } = blockSize ?? {};
  if (custom === undefined) return [];
  const { logical = 0, physical = 0, discardGranularity } = custom;
  const at = (name: string): string => `${field}.blockSize.custom.${name}`;
  if (matchVolume !== undefined && matchVolume.enabled !== false)
    return [invalid(`${field}.blockSize`, 'it is custom, or matchVolume: keep one')];
  if (logical > physical) return [invalid(at('logical'), `${logical} is more than the physical size, ${physical}`)];
  if ((disk ?? lun ?? cdrom)?.bus === 'sata' && logical !== MIN)
    return [invalid(at('logical'), `${logical} cannot be on the bus sata: use ${MIN}, or another bus`)];
  if (discardGranularity !== undefined && logical !== 0 && discardGranularity % logical !== 0)
    return [invalid(at('discardGranularity'), `${discardGranularity} is no multiple of the logical size, ${logical}`)];
  return [...oneSize(logical, at('logical')), ...oneSize(physical, at('physical'))];
};

const oneSize = (size: number, field: string): Cause[] =>
  when(size < MIN || size > MAX || !Number.isInteger(Math.log2(size)), () =>
    invalid(field, `${size} is no size of blocks: use a power of two between ${MIN} and ${MAX}`),
  );
