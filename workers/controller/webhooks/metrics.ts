import type { Registry } from 'prom-client';
import { Histogram } from 'prom-client';

/** How a review ended: `failed` is no answer, so that the API server refuses. */
export type ReviewResult = 'allowed' | 'refused' | 'failed';

/** Notes a review that was answered, from when it came in. */
export type ReviewMetrics = (webhook: string, result: ReviewResult, seconds: number) => void;

export const reviewMetrics = (register: Registry): ReviewMetrics => {
  const durations = new Histogram({
    name: 'virtflow_admission_duration_seconds',
    help: 'Time that admission webhooks took to answer, by webhook and result',
    labelNames: ['webhook', 'result'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
    registers: [register],
  });
  return (webhook, result, seconds) => durations.observe({ webhook, result }, seconds);
};
