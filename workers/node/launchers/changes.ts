import type { FSWatcher } from 'node:fs';
import { watch } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Tells when something changes in a directory. */
export interface Changes {
  /** Resolves after `ms`, with the signal, or at a change since `watch` was called last. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Watches from now on, if the directory is there. */
  watch(): void;
  close(): void;
}

export const changesIn = (directory: string): Changes => {
  let watcher: FSWatcher | undefined;
  let changed = Promise.withResolvers<void>();
  const close = (): void => {
    watcher?.close();
    watcher = undefined;
  };
  const open = (): FSWatcher | undefined => {
    try {
      return watch(directory, { persistent: false })
        .on('change', () => changed.resolve())
        .on('error', close);
    } catch {
      // It is not there, or the kernel gives no more watches: time alone must do.
      return undefined;
    }
  };
  return {
    watch() {
      changed = Promise.withResolvers();
      watcher ??= open();
    },
    async sleep(ms, signal) {
      const late = new AbortController();
      const timer = delay(ms, undefined, { signal: AbortSignal.any([signal, late.signal]) }).catch(() => undefined);
      await Promise.race([changed.promise, timer]);
      late.abort();
    },
    close,
  };
};
