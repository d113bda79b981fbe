import { podFacts } from '../../../activities/facts/pod.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { Change, Informer } from '../../shared/informer.ts';

/** A scheduler that is well needs a fraction of it, in ms. */
const PATIENCE_MS = 1_000;

/** Tells who waits for it that a Pod has got its node, as soon as the watch says so; or that the scheduler has found none. */
export class Placements {
  readonly #cache: Pick<Informer<'Pod'>, 'get'>;
  readonly #waiting = new Map<string, (pod: Pod | undefined) => void>();

  constructor(cache: Pick<Informer<'Pod'>, 'get'>) {
    this.#cache = cache;
  }

  changed({ after }: Change<Pod>): void {
    const tell = this.#waiting.get(after?.metadata?.uid ?? '');
    if (after?.spec?.nodeName !== undefined) tell?.(after);
    else if (podFacts(after ?? {}).unschedulable !== undefined) tell?.(undefined);
  }

  /** The Pod with its node; undefined when it gets none, or none within a second. */
  placed = async (uid: string, patienceMs = PATIENCE_MS): Promise<Pod | undefined> => {
    const known = this.#cache.get(uid);
    if (known?.spec?.nodeName !== undefined) return known;
    const { promise, resolve } = Promise.withResolvers<Pod | undefined>();
    const timer = setTimeout(() => resolve(undefined), patienceMs);
    this.#waiting.set(uid, resolve);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      if (this.#waiting.get(uid) === resolve) this.#waiting.delete(uid);
    }
  };
}
