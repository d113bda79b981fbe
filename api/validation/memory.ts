import { compareQuantities, isQuantity, quantityValue } from '../kubernetes/quantity.ts';
import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, needsGate, required, when } from './cause.ts';

const GUEST = 'spec.domain.memory.guest';
const REQUEST = 'spec.domain.resources.requests.memory';
const LIMIT = 'spec.domain.resources.limits.memory';
const PAGE_SIZE = 'spec.domain.memory.hugepages.pageSize';
/** A guest below one megabyte has no room for its firmware. */
const MIN_REQUEST = '1M';

/** Bytes of a quantity; 0 if there is none. */
const bytes = (quantity: string | undefined): number => (quantity === undefined ? 0 : quantityValue(quantity));

/** Requests, limits, huge pages and the guest's own memory fit each other. */
export const memoryRules: Rule = ({ spec }, config) => {
  const { guest, reservedOverhead } = spec.domain.memory ?? {};
  const request = spec.domain.resources?.requests?.['memory'];
  const limit = spec.domain.resources?.limits?.['memory'];
  const staged = config.vmRolloutStrategy !== 'LiveUpdate';
  return [
    ...when(bytes(request) < 0, () => invalid(REQUEST, `${request} is negative`)),
    ...when(bytes(request) > 0 && compareQuantities(String(request), MIN_REQUEST) < 0, () =>
      invalid(REQUEST, `${request} is too little for a guest: at least ${MIN_REQUEST}`),
    ),
    ...when(bytes(limit) < 0, () => invalid(LIMIT, `${limit} is negative`)),
    ...when(bytes(limit) > 0 && bytes(request) > bytes(limit), () =>
      invalid(REQUEST, `${request} is more than the limit of ${limit}`),
    ),
    ...hugepages(spec),
    ...when(staged && guest !== undefined && bytes(limit) !== 0 && bytes(limit) < bytes(guest), () =>
      invalid(GUEST, `${guest} is more than the memory limit of ${limit}`),
    ),
    ...(reservedOverhead === undefined
      ? []
      : needsGate('spec.domain.memory.reservedOverhead', 'ReservedOverheadMemlock', config)),
  ];
};

/** Memory that is backed by huge pages is made of whole ones. */
const hugepages = ({ domain }: VirtualMachineInstanceSpec): Cause[] => {
  const { hugepages: pages, guest } = domain.memory ?? {};
  if (pages === undefined) return [];
  const { pageSize = '' } = pages;
  if (!isQuantity(pageSize)) return [invalid(PAGE_SIZE, `"${pageSize}" is no page size: use for example 2Mi or 1Gi`)];
  // Pages of no size: told where the rest is told that cannot work.
  if (bytes(pageSize) <= 0) return [];
  const { requests, limits } = domain.resources ?? {};
  const memory = bytes(requests?.['memory']) || bytes(guest) || bytes(limits?.['memory']);
  return when(memory % bytes(pageSize) !== 0, () =>
    invalid(REQUEST, `the memory of ${memory} bytes is not made of whole pages of ${pageSize}`),
  );
};

/** A VMI says how much memory its guest has. A VM need not yet. */
export const memoryIsThere: Rule = ({ spec }) => {
  const { guest, hugepages: pages } = spec.domain.memory ?? {};
  const requested = bytes(spec.domain.resources?.requests?.['memory']) !== 0;
  return when(!requested && guest === undefined && pages === undefined, () =>
    required(GUEST, 'the guest has no memory: set it, or request memory in spec.domain.resources, for example 512Mi'),
  );
};
