import { setTimeout as delay } from 'node:timers/promises';

export interface UntilOptions {
  timeoutMs?: number;
  everyMs?: number;
  /** What a look at the condition that began in time may take longer. */
  lastLookMs?: number;
  /** What there was instead, for the message. */
  seen?: () => unknown;
}

const LATE = Symbol('late');

/**
 * Waits until `condition` gives something other than undefined or false, and returns it. Shorter than a test's timeout, so that the test says what it
 * waited for. @throws Error naming `what` when it is late, also when a look at the condition does not come back
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  { timeoutMs = 45_000, everyMs = 20, lastLookMs = 15_000, seen }: UntilOptions = {},
): Promise<Exclude<T, undefined | false>> {
  const timer = new AbortController();
  const late = delay(timeoutMs + lastLookMs, LATE, { signal: timer.signal }).catch(() => LATE);
  const deadline = Date.now() + timeoutMs;
  try {
    for (;;) {
      const value = await Promise.race([condition(), late]);
      if (value !== undefined && value !== false && value !== LATE) return value as Exclude<T, undefined | false>;
      if (value === LATE || Date.now() > deadline) break;
      await delay(everyMs);
    }
  } finally {
    timer.abort();
  }
  throw new Error(`not within ${timeoutMs} ms: ${what}${seen === undefined ? '' : `\n${await inWords(seen)}`}`);
}

const inWords = async (seen: () => unknown): Promise<string> => {
  try {
    const value = await seen();
    return typeof value === 'string' ? value : JSON.stringify(value);
  } catch (error) {
    return `and what was seen cannot be told: ${String(error)}`;
  }
};
