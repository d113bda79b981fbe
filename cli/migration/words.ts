import Table from 'cli-table3';
import type { MigrationNumbers, MigrationProgress } from '../../api/launcher/migration.ts';
import { TABLE_STYLE, bar } from '../display.ts';
import { bytes, counted, milliseconds } from '../words.ts';

/** "node-a → node-b", as far as it is known. */
export function route(source: string | undefined, target: string | undefined): string {
  if (!source) return '';
  return target ? `${source} → ${target}` : `from ${source}`;
}

/** "1.2 GiB in 3 passes, downtime 85 ms, PreCopy". */
export function numbersInWords(numbers: MigrationNumbers): string {
  return [
    `${bytes(numbers.processedBytes)} in ${counted(numbers.iterations, 'pass', 'passes')}`,
    ...(numbers.downtimeMs === undefined ? [] : [`downtime ${Math.round(numbers.downtimeMs)} ms`]),
    ...(numbers.throttle ? [`guest slowed down by ${numbers.throttle} %`] : []),
    numbers.mode,
  ].join(', ');
}

/** "█████░░░ 42 % · 430 of 1,024 MiB · pass 2 · 110 MiB/s", while it runs. */
export function progressInWords(progress: MigrationProgress): string {
  const share = progress.totalBytes === 0 ? 0 : 1 - progress.remainingBytes / progress.totalBytes;
  return [
    `${bar(share)} ${Math.floor(Math.min(1, Math.max(0, share)) * 100)} %`,
    `${bytes(progress.processedBytes)} sent, ${bytes(progress.remainingBytes)} of ${bytes(progress.totalBytes)} left`,
    `pass ${progress.iterations}`,
    ...(progress.transferRate ? [`${bytes(progress.transferRate)}/s`] : []),
    ...(progress.throttle ? [`guest slowed down by ${progress.throttle} %`] : []),
    ...(progress.mode === 'PreCopy' ? [] : [progress.mode]),
  ].join(' · ');
}

export interface PhaseTime {
  phase: string;
  at: string;
}

const FINAL = ['Succeeded', 'Failed'];

/** Phases passed and how long each lasted; a final one lasts no time, the newest other one until `end`. */
export const phaseDurations = (phases: readonly PhaseTime[], end: string): (PhaseTime & { tookMs?: number })[] =>
  phases.map(({ phase, at }, n) => ({
    ...{ phase, at },
    ...(!FINAL.includes(phase) && { tookMs: Date.parse(phases[n + 1]?.at ?? end) - Date.parse(at) }),
  }));

/** Phases as a table. */
export function phaseTable(phases: readonly PhaseTime[], end: string): string {
  const table = new Table({ head: ['phase', 'since', 'took'], style: TABLE_STYLE });
  for (const { phase, at, tookMs } of phaseDurations(phases, end))
    table.push([phase, at, tookMs === undefined ? '' : milliseconds(tookMs)]);
  return table.toString();
}
