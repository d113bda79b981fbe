import { compareQuantities, isQuantity } from '../kubernetes/quantity.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, required, when } from './cause.ts';

const GUEST = 'spec.domain.memory.guest';
/** A guest below one megabyte has no room for its firmware. */
const MIN_GUEST = '1M';

/** A guest has memory, and requests fit their limits. */
export const memoryRules: Rule = ({ spec }) => {
  const { guest, hugepages } = spec.domain.memory ?? {};
  const { requests = {}, limits = {} } = spec.domain.resources ?? {};
  return [
    ...quantities('requests', requests),
    ...quantities('limits', limits),
    ...guestMemory(guest),
    ...['cpu', 'memory'].flatMap((name) => overLimit(name, requests[name], limits[name])),
    ...when(hugepages !== undefined && !isPageSize(hugepages.pageSize), () =>
      invalid(
        'spec.domain.memory.hugepages.pageSize',
        `"${hugepages?.pageSize}" is no page size: use for example 2Mi or 1Gi`,
      ),
    ),
  ];
};

const guestMemory = (guest: string | undefined): Cause[] => {
  if (guest === undefined)
    return [
      required(GUEST, 'the guest has no memory: set it, or request memory in spec.domain.resources, for example 512Mi'),
    ];
  return when(compareQuantities(guest, MIN_GUEST) < 0, () =>
    invalid(GUEST, `${guest} is too little for a guest: at least ${MIN_GUEST}`),
  );
};

const quantities = (list: 'requests' | 'limits', resources: Record<string, string>): Cause[] =>
  Object.entries(resources).flatMap(([name, quantity]) =>
    when(compareQuantities(quantity, '0') < 0, () =>
      invalid(`spec.domain.resources.${list}.${name}`, `${quantity} is negative`),
    ),
  );

const overLimit = (name: string, request: string | undefined, limit: string | undefined): Cause[] =>
  when(request !== undefined && limit !== undefined && compareQuantities(request, limit) > 0, () =>
    invalid(`spec.domain.resources.requests.${name}`, `${request} is more than the limit of ${limit}`),
  );

const isPageSize = (size: string | undefined): boolean =>
  size !== undefined && isQuantity(size) && compareQuantities(size, '0') > 0;
