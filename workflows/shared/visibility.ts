import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { SearchAttributeType, TypedSearchAttributes, defineSearchAttributeKey } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { SearchAttribute } from '../../api/contract/search-attributes.ts';

export type Attributes = Partial<Record<SearchAttribute, string | undefined>>;

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

/** The same for whoever starts a workflow. */
export const startAttributes = (attributes: Attributes): TypedSearchAttributes =>
  new TypedSearchAttributes(
    Object.entries(attributes).flatMap(([name, value]) =>
      value === undefined || value === ''
        ? []
        : [{ key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value }],
    ),
  );

const pair = (name: string, value: string | undefined): SearchAttributeUpdatePair => ({
  key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
  value: value === undefined || value === '' ? null : value,
});
