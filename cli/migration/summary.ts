import Table from 'cli-table3';
import type { ObjectRef } from '../../api/contract/refs.ts';
import type { FailureInfo } from '../../api/contract/failures.ts';
import type { Told } from '../temporal/operations.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { TABLE_STYLE } from '../display.ts';
import { bytes, duration, milliseconds } from '../words.ts';
import { phaseOf, refOf, toldBy, type Migration } from './objects.ts';
import { phaseDurations, type PhaseTime } from './words.ts';

/** How a migration ended, as far as it is known. Bytes and milliseconds; times are RFC 3339. */
export interface MigrationSummary {
  migration: ObjectRef;
  vm: string;
  /** `unknown`: its object is gone and nobody tells what became of it. */
  outcome: 'succeeded' | 'failed' | 'cancelled' | 'running' | 'unknown';
  phases: (PhaseTime & { tookMs?: number })[];
  source?: string;
  target?: string;
  /** Where the guest runs after it, if it does. */
  runsOn?: string;
  bytes?: number;
  iterations?: number;
  downtimeMs?: number;
  mode?: string;
  failure?: FailureInfo;
}

export interface Ended {
  last: Migration;
  gone: boolean;
  /** The VMI after it. */
  vmi?: VirtualMachineInstance;
  /** The workflow's last word. */
  told?: Told | undefined;
}

type MigrationState = NonNullable<VirtualMachineInstance['status']>['migrationState'];

/** Puts together what the object, the VMI and the workflow say; the workflow, which knows most, wins. */
export function summarize({ last, gone, vmi, told }: Ended, now: string): MigrationSummary {
  const state = stateOf(last, vmi);
  const report = told?.migration;
  const numbers = report?.numbers;
  const outcome = outcomeOf({ last, gone, told }, state);
  const failure = outcome === 'succeeded' ? undefined : (told?.failure ?? report?.failure ?? failureIn(last, state));
  const source = report?.source?.node ?? state?.sourceNode;
  const target = report?.target?.node ?? state?.targetNode;
  const mode = report?.mode ?? numbers?.mode ?? state?.mode;
  return {
    ...{ migration: refOf(last), vm: last.spec.vmiName ?? '', outcome },
    phases: phaseDurations(phasesOf(last, told), report?.endedAt ?? now),
    ...(source && { source }),
    ...(target && { target }),
    ...(vmi?.status?.phase === 'Running' && vmi.status.nodeName && { runsOn: vmi.status.nodeName }),
    ...(numbers && { bytes: numbers.processedBytes, iterations: numbers.iterations }),
    ...(numbers?.downtimeMs !== undefined && { downtimeMs: numbers.downtimeMs }),
    ...(mode && { mode }),
    ...(failure && { failure }),
  };
}

/** KubeVirt's migrationState of this migration: copied to the object when it is over, before that on the VMI. */
export const stateOf = (migration: Migration, vmi: VirtualMachineInstance | undefined): MigrationState =>
  [migration.status?.migrationState, vmi?.status?.migrationState].find(
    (state) => state?.migrationUid === migration.metadata?.uid,
  );

function outcomeOf({ last, gone, told }: Ended, state: MigrationState): MigrationSummary['outcome'] {
  const phases = [told?.migration?.phase, phaseOf(last)];
  if (phases.includes('Succeeded') || (state?.completed === true && state.failed !== true)) return 'succeeded';
  if (phases.includes('Failed') || told?.failure !== undefined || state?.failed === true)
    return wasCancelled({ last, gone, told }, state) ? 'cancelled' : 'failed';
  return gone ? 'unknown' : 'running';
}

/** By what the workflow says, else by the VMI's status, else because its object was deleted. */
function wasCancelled({ last, gone, told }: Ended, state: MigrationState): boolean {
  const abort = told?.migration?.abort ?? state?.abortStatus?.toLowerCase();
  if (abort !== undefined) return abort === 'succeeded';
  if (told?.failure !== undefined) return told.failure.type === 'Cancelled';
  return gone || last.metadata?.deletionTimestamp !== undefined;
}

function failureIn(last: Migration, state: MigrationState): FailureInfo | undefined {
  const message = state?.failureReason;
  return toldBy(last, 'Failure') ?? (message ? { type: 'Unknown', message } : undefined);
}

const phasesOf = (last: Migration, told: Told | undefined): PhaseTime[] =>
  told?.migration?.phaseTimes ??
  (last.status?.phaseTransitionTimestamps ?? []).map(({ phase = '', phaseTransitionTimestamp: at = '' }) => ({
    phase,
    at,
  }));

/** The small table at the end. */
export function renderSummary(summary: MigrationSummary): string {
  const { phases, source, target, bytes: sent, iterations, downtimeMs, mode } = summary;
  const table = new Table({ style: TABLE_STYLE });
  for (const { phase, tookMs } of phases) if (tookMs !== undefined) table.push({ [phase]: milliseconds(tookMs) });
  const [first, end] = [phases[0], phases.at(-1)];
  if (first && end && first !== end) table.push({ 'in all': duration(first.at, end.at) });
  if (source) table.push({ from: source });
  if (target) table.push({ to: target });
  if (sent !== undefined)
    table.push({ transferred: `${bytes(sent)} in ${iterations} pass${iterations === 1 ? '' : 'es'}` });
  if (downtimeMs !== undefined) table.push({ downtime: `${Math.round(downtimeMs)} ms` });
  if (mode) table.push({ mode });
  return table.toString();
}
