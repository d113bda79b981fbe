import { podFacts } from '../../../activities/facts/pod.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { Change, Informer } from '../../shared/informer.ts';

/** A scheduler that is well needs a fraction of it, in ms. */
const PATIENCE_MS = 1_000;

/** A kubelet whose containers have ended needs a second or so, in ms. */
const REMOVAL_MS = 2_000;

/** Tells who waits for it that a Pod has got its node, as soon as the watch says so; or that the scheduler has found none. And that a Pod is gone. */
export class Placements {
  readonly #cache: Pick<Informer<'Pod'>, 'get'>;
  readonly #waiting = new Map<string, (pod: Pod | undefined) => void>();
  readonly #removing = new Map<string, () => void>();

  constructor(cache: Pick<Informer<'Pod'>, 'get'>) {
    this.#cache = cache;
  }

  changed({ before, after }: Change<Pod>): void {
    if (after === undefined) return this.#removing.get(before?.metadata?.uid ?? '')?.();
    const tell = this.#waiting.get(after.metadata?.uid ?? '');
    if (after.spec?.nodeName !== undefined) tell?.(after);
    else if (podFacts(after).unschedulable !== undefined) tell?.(undefined);
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

  /** Returns when the watch says that the Pod is gone, or after two seconds. That it is not there (yet, or any more) says nothing. */
  removed = async (uid: string, patienceMs = REMOVAL_MS): Promise<void> => {
    if (this.#cache.get(uid) === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, patienceMs);
    this.#removing.set(uid, resolve);
    await promise;
    clearTimeout(timer);
    if (this.#removing.get(uid) === resolve) this.#removing.delete(uid);
  };
}
