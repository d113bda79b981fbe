import type { InstanceFacts, PodFacts } from '../../api/contract/facts.ts';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type { MigrationAnswer, MigrationProposal, MigrationReport } from '../../api/contract/migrations.ts';
import type {
  GuestEnd,
  OperationFinished,
  OperationKind,
  OperationProgress,
  ShutdownInput,
} from '../../api/contract/operations.ts';
import type { NodeReport } from '../../api/contract/nodes.ts';
import type { ObjectRef, PodRef } from '../../api/contract/refs.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import type { Found } from './found.ts';

/** The operation under way. */
export interface Running {
  id: string;
  kind: OperationKind;
  attempt: number;
  phase: string;
  trouble?: FailureInfo;
  cancelling?: boolean;
  /** Of a shutdown: when the guest is destroyed at the latest, and the grace period that it was made of. */
  deadline?: string;
  graceSeconds?: number;
  cause?: ShutdownInput['cause'];
  /** Of a migration: its VMIM. */
  migration?: ObjectRef;
  /** Of a start: it waits for what becomes of its Pod or its domain, so that it is told also that all goes well. */
  isWaiting?: boolean;
  /** Of a migration: it has failed, and the token says that the guest stays where it was. */
  stays?: boolean;
}

/** A Pod that a migration brings the guest to. */
export interface Target {
  pod: PodRef;
  facts?: PodFacts;
  domain?: DomainReport;
}

/** A migration that asks to be the VMI's operation. `late`: it runs already, and must be cancelled if it may not. */
export interface Proposal extends MigrationProposal {
  late?: boolean;
}

export interface FailedOperation {
  id: string;
  kind: OperationKind;
  failure: FailureInfo;
}

/** All that the entity of a VMI knows; JSON only. */
export interface InstanceState {
  ref: ObjectRef;
  object?: InstanceFacts;
  /** No command that acts on the VM is given before the world was looked at. */
  adoption: 'needed' | 'underWay' | 'done';
  adoptionRounds: number;
  /** When to look at the world again although nothing happened. */
  wakeAt?: string;
  /** The Pod that may hold the domain. */
  pod?: PodRef;
  podFacts?: PodFacts;
  /** Newest news of a Pod that we do not know yet: the operation under way may just have created it. */
  heard?: PodFacts;
  /** Newest report of a domain in such a Pod. */
  heardDomain?: DomainReport;
  /** Other Pods of the VMI that hold nothing but must be gone before a start. */
  leftovers: PodRef[];
  epoch?: number;
  domain?: DomainReport;
  /** The node that something was last told of, unless it is well. */
  host?: NodeReport;
  /** The domain has run (in this Pod). */
  started: boolean;
  /** Of the migration under way (or clearing), until the guest is there for good. */
  target?: Target;
  /** A migration that has failed and clears up beside the shutdown of the guest, which has stayed. */
  clearing?: { id: string };
  /** The Pod that the guest has left by the migration under way. */
  former?: PodRef;
  /** The migration under way, or the last one, since it had a target. */
  migration?: MigrationReport;
  /** Not answered yet: the world was not looked at. */
  proposals: Proposal[];
  /** A migration that has left something behind and does not run: it is begun again, to bring that to an end. */
  takeUp?: ObjectRef;
  /** Uids of migrations that have succeeded for good, so that they cannot be begun again. */
  settled: string[];
  operation?: Running;
  failed?: FailedOperation;
  /** Id of the operation whose end was taken in last; an operation that is asked while it closes tells it twice. */
  ended?: string;
  /** Id of the failed operation that the next one retries. */
  retryOf?: string;
  /** Highest attempt so far of each kind. */
  attempts: Record<OperationKind, number>;
  /** How the guest ended, as a shutdown that failed later on has found out. */
  witnessed?: GuestEnd;
  /** How the guest ended; the VMI is final with it. */
  end?: GuestEnd;
  phase: string;
  phaseTimes: { phase: string; at: string }[];
  release?: 'underWay' | 'done';
}

export type InstanceEvent =
  | { type: 'instanceObserved'; facts: InstanceFacts }
  | { type: 'podObserved'; facts: PodFacts }
  | { type: 'domainReported'; report: DomainReport }
  | { type: 'dependencyChanged'; kind: string; name: string }
  | { type: 'operationProgress'; progress: OperationProgress }
  | { type: 'operationFinished'; finished: OperationFinished }
  /** The operation's workflow has closed, or nobody is there under its id. */
  | { type: 'operationLost'; id: string }
  /** The id of an operation that we began was taken: history was lost. */
  | { type: 'operationExists'; id: string; isOpen: boolean }
  | { type: 'migrationProposed'; proposal: MigrationProposal }
  | { type: 'nodeReported'; report: NodeReport }
  | { type: 'retryRequested' }
  | { type: 'adopted'; found: Found }
  | { type: 'released' }
  | { type: 'timerFired' };

export type Forwarded =
  | { signal: 'podChanged'; facts: PodFacts }
  | { signal: 'domainChanged'; report: DomainReport }
  | { signal: 'wake' }
  | { signal: 'ping' }
  | { signal: 'bringForward'; deadline: string };

export type BeginOperation =
  | { kind: 'start'; attempt: number; retryOf?: string }
  | { kind: 'migrate'; attempt: number; retryOf?: string; migration: ObjectRef }
  | {
      kind: 'shutdown';
      attempt: number;
      retryOf?: string;
      pod: PodRef;
      deadline: string;
      cause: ShutdownInput['cause'];
      epoch?: number;
      end?: GuestEnd;
    };

export type InstanceCommand =
  | { type: 'adopt'; attempts: InstanceState['attempts'] }
  | { type: 'begin'; id: string; operation: BeginOperation; owner?: { name: string; uid: string } }
  | { type: 'forward'; id: string; message: Forwarded }
  | { type: 'cancel'; id: string }
  /** To a migration that asked. */
  | { type: 'answer'; id: string; answer: MigrationAnswer }
  /** `epoch`: of a token that no Pod was created under. */
  | { type: 'release'; epoch?: number };

export interface InstanceDecision {
  state: InstanceState;
  commands: InstanceCommand[];
}

export const initialState = (ref: ObjectRef): InstanceState => ({
  ...{ ref, adoption: 'needed', adoptionRounds: 0, leftovers: [], started: false },
  ...{ attempts: { start: 0, shutdown: 0, migrate: 0 }, phase: '', phaseTimes: [], proposals: [], settled: [] },
});

export const isGone = ({ object }: InstanceState): boolean => object?.gone === true;

/** Its end is asked for, or nobody is there any more who could want it. */
export const shallEnd = ({ object }: InstanceState): boolean => object?.deleting === true || object?.gone === true;

/** How the node of the VMI's Pod stands, if it is not well. */
export const troubledHost = ({ host, pod }: Pick<InstanceState, 'host' | 'pod'>): NodeReport | undefined =>
  host !== undefined && host.node === pod?.node ? host : undefined;

/** The node of its Pod is fenced: what ran there counts as gone. */
export const hasLostNode = (state: Pick<InstanceState, 'host' | 'pod'>): boolean =>
  troubledHost(state)?.standing === 'fenced';

/** Nothing is left to do and nobody to do it for. */
export const isOver = (state: InstanceState): boolean =>
  isGone(state) &&
  state.adoption === 'done' &&
  state.operation === undefined &&
  state.clearing === undefined &&
  state.pod === undefined &&
  state.leftovers.length === 0 &&
  state.takeUp === undefined &&
  (state.epoch === undefined || state.release === 'done') &&
  state.release !== 'underWay';
