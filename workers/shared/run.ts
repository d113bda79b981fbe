import type { Worker } from '@temporalio/worker';
import type { Logger } from './logging.ts';

/** Aborted by SIGTERM or SIGINT. */
export const stopSignal = (log: Logger): AbortSignal => {
  const controller = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.once(name, () => {
      log.info({ signal: name }, 'stopping');
      controller.abort();
    });
  }
  return controller.signal;
};

/**
 * Runs Temporal Workers until `signal`, then lets each finish within its own grace time. The end of one ends all.
 * @throws the first Worker's error
 */
export const runWorkers = async (workers: Worker[], signal: AbortSignal): Promise<void> => {
  const stopAll = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  signal.addEventListener('abort', stopAll, { once: true });
  const running = workers.map((worker) =>
    worker.run().finally(() => {
      stopAll();
    }),
  );
  if (signal.aborted) stopAll();
  const results = await Promise.allSettled(running);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
};

/** Waits for something that may never come; a stop ends the wait. @throws when stopped */
export const orStop = <T>(wait: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped while waiting')), { once: true });
    wait.then(resolve, reject);
  });

/** Runs a process's main function: an error is logged and ends it with status 1, a stop signal with 0. */
export const runMain = async (log: Logger, main: (signal: AbortSignal) => Promise<void>): Promise<never> => {
  const signal = stopSignal(log);
  try {
    await main(signal);
  } catch (error) {
    if (!signal.aborted) {
      log.fatal({ err: error }, 'ending');
      process.exit(1);
    }
    log.warn({ err: error }, 'stopped while something was under way');
  }
  process.exit(0);
};
