import { CancelledFailure } from '@temporalio/common';
import type { NodePorts, Progress } from './ports.ts';

/** Well below the heartbeat timeout that workflows set. */
const BEAT_MS = 5_000;

export interface Beating extends Progress {
  /** Says what is being done now; sent at once and then repeated. */
  report: Progress['heartbeat'];
}

/** Runs something long and tells the server that it lives, even while nothing changes. */
export const withHeartbeat = async <T>(
  ports: Pick<NodePorts, 'progress'>,
  run: (progress: Beating) => Promise<T>,
): Promise<T> => {
  const progress = ports.progress();
  let detail: Parameters<Progress['heartbeat']>[0] = 'started';
  const timer = setInterval(() => progress.heartbeat(detail), BEAT_MS);
  try {
    return await run({
      ...progress,
      report(latest) {
        detail = latest;
        progress.heartbeat(detail);
      },
    });
  } catch (error) {
    // Whatever it was that gave up on the cancellation: Temporal must see that it did.
    if (progress.cancelled.aborted)
      throw new CancelledFailure('cancelled while something was under way', [], asError(error));
    throw error;
  } finally {
    clearInterval(timer);
  }
};

const asError = (error: unknown): Error | undefined => (error instanceof Error ? error : undefined);
