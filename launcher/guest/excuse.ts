import type { DomainReport } from '../../api/launcher/reports.ts';

/**
 * Whether a guest cannot answer a probe although it is well, so that nobody shall end its Pod for that: it stands still because somebody wants that, or
 * it is on its way to or from here. A ping is excused, too, as long as there is no domain (KubeVirt's rule).
 */
export const isExcused = (
  { state, pausedBy }: Pick<DomainReport, 'state' | 'pausedBy'>,
  { leaving, probed }: { leaving: boolean; probed: 'ping' | 'exec' },
): boolean =>
  leaving ||
  state === 'incoming' ||
  (state === 'paused' && pausedBy !== 'ioError') ||
  (probed === 'ping' && (state === 'none' || state === 'starting'));
