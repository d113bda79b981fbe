import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `condition` gives something other than undefined or false, and returns it. @throws Error naming `what` when it is late */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  { timeoutMs = 45_000, everyMs = 20 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<Exclude<T, undefined | false>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await delay(everyMs);
  }
}
