import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until `condition` gives something other than undefined or false, asking about every 200 ms, and returns it.
 * @throws Error naming `what` when it does not hold within `seconds`
 */
export async function until<T>(
  what: string,
  seconds: number,
  condition: () => Promise<T>,
): Promise<Exclude<T, undefined | false>> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${seconds} s`);
    await sleep(200);
  }
}
