import { setInterval } from 'node:timers';
import { BroadcastChannel } from 'node:worker_threads';

const CHANNEL = 'virtflow-workflow-thread';

/** Between two beats, in ms. */
const BEAT_MS = 1_000;
/** How often it is looked whether one came, in ms; so many times in a row without one count as silence. */
const LOOK_MS = 5_000;
const SILENT_LOOKS = 6;

/** Says from this thread, for as long as it lives, that its code comes to an end again and again. */
export const beat = (everyMs = BEAT_MS): void => {
  const channel = new BroadcastChannel(CHANNEL);
  channel.unref();
  setInterval(() => channel.postMessage('alive'), everyMs).unref();
};

/**
 * Watches the thread that runs workflow code: rejects when it was heard and then no more, as it is when code never returns. A process that was frozen
 * itself counts once.
 */
export const watchWorkflowThread = (signal: AbortSignal, lookMs = LOOK_MS): Promise<never> =>
  new Promise((_, reject) => {
    const channel = new BroadcastChannel(CHANNEL);
    let silent: number | undefined;
    channel.onmessage = () => (silent = 0);
    const timer = setInterval(() => {
      if (silent === undefined) return;
      silent += 1;
      if (silent < SILENT_LOOKS) return;
      end();
      const text = `workflow code has not returned for ${(SILENT_LOOKS * lookMs) / 1000} s: a workflow of this release may never end a task; see which ones were begun last.`;
      reject(new Error(text));
    }, lookMs);
    const end = (): void => {
      clearInterval(timer);
      channel.close();
    };
    channel.unref();
    timer.unref();
    signal.addEventListener('abort', end, { once: true });
  });
