import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until `condition` holds, asking about every 200 ms.
 * @throws Error naming `what` when it does not hold within `seconds`
 */
export async function until(what: string, seconds: number, condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${seconds} s`);
    await sleep(200);
  }
}
