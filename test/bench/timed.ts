import { defaultKubeClient } from '../../activities/kube/client.ts';
import type { Kinds } from '../../activities/kube/port.ts';
import { watchObject } from '../e2e/support/watch.ts';
import { until } from '../support/until.ts';

/** Something to wait for on an object. */
export interface Milestone<T> {
  kind: string;
  what: string;
  holds: (object: T) => boolean;
}

/**
 * Creates an object and waits for milestones of objects of the same name; ms from the request's departure to each, as a watch heard of it.
 * @throws Error when one does not come within four minutes
 */
export async function timeFromCreation<K extends 'Pod' | 'VirtualMachine' | 'VirtualMachineInstanceMigration', T>(
  kind: K,
  object: Kinds[K],
  milestones: readonly Milestone<T>[],
): Promise<{ ms: number; at: number }[]> {
  const { namespace = '', name = '' } = object.metadata ?? {};
  const watches = new Map(
    [...new Set(milestones.map((one) => one.kind))].map((one) => [one, watchObject<T>(one, name, namespace)]),
  );
  try {
    const began = Date.now();
    await defaultKubeClient().create(kind, object);
    const times: { ms: number; at: number }[] = [];
    for (const milestone of milestones) {
      const seen = watches.get(milestone.kind)?.seen ?? [];
      const heard = await until(
        `${name}: ${milestone.what}`,
        () => seen.find((event) => milestone.holds(event.object)),
        { timeoutMs: 240_000 },
      );
      times.push({ ms: heard.at - began, at: heard.at });
    }
    return times;
  } finally {
    for (const watch of watches.values()) await watch.stop();
  }
}
