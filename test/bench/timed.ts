import { kubeClient } from '../../activities/kube/client.ts';
import type { Kinds } from '../../activities/kube/port.ts';
import { defaultKubeConfig, restOf } from '../../activities/kube/rest.ts';
import { Informer } from '../../workers/shared/informer.ts';
import { createLogger } from '../../workers/shared/logging.ts';
import { until } from '../support/until.ts';

type Timed = 'Pod' | 'VirtualMachine' | 'VirtualMachineInstance' | 'VirtualMachineInstanceMigration';

/** Something to wait for on an object. */
export interface Milestone<K extends Timed> {
  kind: K;
  what: string;
  holds: (object: Kinds[K]) => boolean;
}

/** Of a milestone, in ms. */
export interface Reached {
  /** Since the request to create departed, as a watch heard of it. */
  ms: number;
  /** Since 1970. */
  at: number;
}

/**
 * Creates an object and waits for milestones of an object of the same name. Who watches is connected before, in this process: nothing is started
 * meanwhile that takes its part of the machine.
 * @throws Error when one does not come within four minutes
 */
export async function timeFromCreation<K extends Timed, M extends Timed>(
  kind: K,
  object: Kinds[K],
  milestones: readonly Milestone<M>[],
): Promise<Reached[]> {
  const { namespace = '', name = '' } = object.metadata ?? {};
  const rest = restOf(defaultKubeConfig());
  const over = new AbortController();
  const reached = new Map<Milestone<M>, number>();
  const watches = [...new Set(milestones.map((one) => one.kind))].map((watched) => {
    const informer = new Informer({
      ...{
        rest,
        namespace,
        kind: watched,
        fieldSelector: `metadata.name=${name}`,
        log: createLogger('bench', 'silent'),
      },
      onChange: ({ after }) => {
        for (const milestone of milestones)
          if (after !== undefined && milestone.kind === watched && !reached.has(milestone) && milestone.holds(after))
            reached.set(milestone, Date.now());
      },
    });
    void informer.run(over.signal);
    return informer.synced;
  });
  try {
    await Promise.all(watches);
    const began = Date.now();
    await kubeClient(rest).create(kind, object);
    const times: Reached[] = [];
    for (const milestone of milestones) {
      const at = await until(`${name}: ${milestone.what}`, () => reached.get(milestone), { timeoutMs: 240_000 });
      times.push({ ms: at - began, at });
    }
    return times;
  } finally {
    over.abort();
  }
}
