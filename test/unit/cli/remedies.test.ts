import { expect, test } from '@jest/globals';
import { FAILURES } from '../../../api/contract/failures.ts';
import type { FailureType } from '../../../api/contract/failures.ts';
import { remedyFor } from '../../../cli/remedies.ts';

const on = { namespace: 'prod', name: 'web' };

test.each([...(Object.keys(FAILURES) as FailureType[]), 'Unknown' as const])(
  'there is something to do about %s',
  (type) => {
    const remedy = remedyFor(type, on);
    expect(remedy.length).toBeGreaterThan(20);
    expect(remedy).not.toMatch(/\.$|undefined/);
  },
);
