import type { NodePorts, Progress } from './ports.ts';

/** Well below the heartbeat timeout that workflows set. */
const BEAT_MS = 5_000;

export interface Beating extends Progress {
  /** Says what is being done now; sent at once and then repeated. */
  report: (detail: string) => void;
}

/** Runs something long and tells the server that it lives, even while nothing changes. */
export const withHeartbeat = async <T>(
  ports: Pick<NodePorts, 'progress'>,
  run: (progress: Beating) => Promise<T>,
): Promise<T> => {
  const progress = ports.progress();
  let detail = 'started';
  const timer = setInterval(() => progress.heartbeat(detail), BEAT_MS);
  try {
    return await run({
      ...progress,
      report(text) {
        detail = text;
        progress.heartbeat(detail);
      },
    });
  } finally {
    clearInterval(timer);
  }
};
