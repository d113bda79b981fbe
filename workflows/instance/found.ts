import type { Adoption } from '../../api/contract/activities.ts';
import type { OperationKind } from '../../api/contract/operations.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';

/** What an adoption found: the objects, the launchers' answers (absent: no answer), and an operation that still runs. */
export interface Found extends Adoption {
  domains: Record<string, DomainReport>;
  operation?: FoundOperation;
  /** A migration that clears up beside it. */
  clearing?: FoundOperation;
}

export interface FoundOperation {
  id: string;
  kind: OperationKind;
  attempt: number;
  migration?: ObjectRef;
}
