import type { PciAddress } from './domain.ts';
import { ConversionError } from './errors.ts';

const PATTERN = /^([\da-f]{4}):([\da-f]{2}):([01][\da-f])\.([0-7])$/i;

export const pciAt = (domain: string, bus: string, slot: string, fn: string): PciAddress => ({
  '@type': 'pci',
  '@domain': `0x${domain}`,
  '@bus': `0x${bus}`,
  '@slot': `0x${slot}`,
  '@function': `0x${fn}`,
});

/** Parses "0000:81:01.0". @throws ConversionError */
export function pciAddress(field: string, text: string | undefined): PciAddress | undefined {
  if (!text) return undefined;
  const [, domain = '', bus = '', slot = '', fn = ''] = PATTERN.exec(text) ?? [];
  if (domain === '') throw new ConversionError(field, `"${text}" is not a PCI address like 0000:81:01.0`);
  return pciAt(domain, bus, slot, fn);
}
