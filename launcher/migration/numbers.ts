import type { MigrationMode, MigrationNumbers, MigrationProgress } from '../../api/launcher/migration.ts';
import type { Parameters } from '../libvirt/types.ts';

/** Field names as in libvirt's virDomainGetJobStats. Dirty rate counts pages per second. */
export function toProgress(stats: Parameters, mode: MigrationMode): MigrationProgress {
  const of = (name: string): number => Number(stats[name] ?? 0);
  const optional = <K extends string>(key: K, value: number): { [name in K]?: number } =>
    (value > 0 ? { [key]: value } : {}) as { [name in K]?: number };
  return {
    mode,
    elapsedMs: of('time_elapsed'),
    totalBytes: of('data_total'),
    processedBytes: of('data_processed'),
    remainingBytes: of('data_remaining'),
    iterations: of('memory_iteration'),
    ...optional('dirtyRate', of('memory_dirty_rate') * of('memory_page_size')),
    ...optional('transferRate', of('memory_bps') + of('disk_bps')),
    ...optional('throttle', of('auto_converge_throttle')),
  };
}

/** Of a job that is over: only then the downtime is the one that was. */
export function toNumbers(stats: Parameters, mode: MigrationMode): MigrationNumbers {
  const downtime = stats['downtime'];
  return { ...toProgress(stats, mode), ...(downtime === undefined ? {} : { downtimeMs: Number(downtime) }) };
}
