import { createHash } from 'node:crypto';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import type { LaunchPurpose } from './input.ts';

/** Longest DNS label, also the longest label value. */
const LABEL_MAX = 63;
const POD_PREFIX = 'virt-launcher-';
const HASH_LENGTH = 8;

/** Cuts to a length and drops what a DNS name may not end with. */
const cut = (name: string, length: number): string => name.slice(0, length).replace(/[-.]+$/, '');

/**
 * Name of the launcher Pod of one start attempt or one migration: the same VMI and purpose always give the same name, so that a second
 * create finds the first Pod; a VMI of the same name with another uid never does. At most 63 characters.
 */
export const podName = ({ metadata }: VirtualMachineInstance, purpose: LaunchPurpose): string => {
  const which = 'attempt' in purpose ? purpose.attempt : `migration/${purpose.migration.uid}`;
  const hash = createHash('sha256').update(`${metadata?.uid}/${which}`).digest('hex').slice(0, HASH_LENGTH);
  return `${POD_PREFIX}${cut(metadata?.name ?? '', LABEL_MAX - POD_PREFIX.length - 1 - HASH_LENGTH)}-${hash}`;
};

/** Host name of Pod and guest: the spec's, else the first label of the VMI's name. */
export const hostName = ({ metadata, spec }: VirtualMachineInstance): string =>
  spec.hostname || cut((metadata?.name ?? '').split('.')[0] ?? '', LABEL_MAX);

/** Value of the label `vmi.kubevirt.io/id`: the name, or its beginning and a hash when it is too long for a label. */
export const instanceLabel = ({ metadata }: Pick<VirtualMachineInstance, 'metadata'>): string => {
  const name = metadata?.name ?? '';
  if (name.length <= LABEL_MAX) return name;
  const hash = createHash('sha1').update(name).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, LABEL_MAX - HASH_LENGTH - 1)}-${hash}`;
};
