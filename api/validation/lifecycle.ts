import type { Cause, Rule } from './cause.ts';
import { invalid, oneOf, when } from './cause.ts';

const EVICTION = ['None', 'LiveMigrate', 'LiveMigrateIfPossible', 'External'];
const IO_THREADS = ['shared', 'auto', 'supplementalPool'];

/** How a guest starts, is moved and serves its IO. */
export const lifecycleRules: Rule = ({ spec }) => {
  const { evictionStrategy, startStrategy, livenessProbe } = spec;
  const { ioThreads, ioThreadsPolicy } = spec.domain;
  const pooled = ioThreadsPolicy === 'supplementalPool';
  const start: Cause[] = oneOf('spec.startStrategy', startStrategy, ['Paused']);
  return [
    ...oneOf('spec.evictionStrategy', evictionStrategy, EVICTION),
    ...start,
    ...when(startStrategy === 'Paused' && livenessProbe !== undefined, () =>
      invalid('spec.startStrategy', 'a paused guest fails its livenessProbe: drop one of them'),
    ),
    ...oneOf('spec.domain.ioThreadsPolicy', ioThreadsPolicy, IO_THREADS),
    ...when(pooled && (ioThreads?.supplementalPoolThreadCount ?? 0) < 1, () =>
      invalid(
        'spec.domain.ioThreads.count',
        'supplementalPool needs ioThreads.supplementalPoolThreadCount, at least 1',
      ),
    ),
  ];
};
