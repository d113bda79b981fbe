import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { SearchAttribute } from '../../api/contract/search-attributes.ts';

export type Attributes = Partial<Record<SearchAttribute, string | undefined>>;

/** Writes search attributes, each only when it changes. An absent or empty value removes it. */
export const newAttributeWriter = (): ((attributes: Attributes) => void) => {
  const written: Attributes = {};
  return (attributes) => {
    const changed = Object.entries(attributes).filter(
      ([name, value]) => (written[name as SearchAttribute] ?? '') !== (value ?? ''),
    );
    if (changed.length === 0) return;
    Object.assign(written, attributes);
    upsertSearchAttributes(changed.map(([name, value]) => pair(name, value)));
  };
};

const pair = (name: string, value: string | undefined): SearchAttributeUpdatePair => ({
  key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
  value: value === undefined || value === '' ? null : value,
});
