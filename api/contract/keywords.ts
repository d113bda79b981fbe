import { SearchAttributeType, TypedSearchAttributes, defineSearchAttributeKey } from '@temporalio/common';
import type { SearchAttribute } from './search-attributes.ts';

/** An absent or empty value is none. */
export type Attributes = Partial<Record<SearchAttribute, string | undefined>>;

/** Search attributes that a workflow is started with. */
export const keywords = (attributes: Attributes): TypedSearchAttributes =>
  new TypedSearchAttributes(
    Object.entries(attributes).flatMap(([name, value]) =>
      value === undefined || value === ''
        ? []
        : [{ key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value }],
    ),
  );
