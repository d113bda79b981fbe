import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { Attributes } from '../../api/contract/keywords.ts';
import type { SearchAttribute } from '../../api/contract/search-attributes.ts';

/** Writes search attributes, each only when it changes from what this run began with. An absent or empty value removes it. */
export const newAttributeWriter = (): ((attributes: Attributes) => void) => {
  const begunWith = workflowInfo().typedSearchAttributes.getAll();
  const written: Attributes = Object.fromEntries(begunWith.map(({ key, value }) => [key.name, String(value)]));
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
