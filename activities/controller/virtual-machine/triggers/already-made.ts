import type { Pair } from '../../../../api/subresources/lifecycle.ts';
import { isAlive, isStopping, requestsOf, strategyOf } from '../../../../api/subresources/lifecycle.ts';
import type { OptionsOf } from '../../../../api/subresources/options.ts';
import { DEFAULT_GRACE_SECONDS, isFinal } from '../../../facts/instance.ts';

/** What a start, stop or restart is about. */
export interface Change {
  action: 'start' | 'stop' | 'restart';
  options: OptionsOf<'stop'>;
  /** Uid of the instance that there was when it was accepted; '': none. */
  instance: string;
}

/**
 * Whether nothing is left to change, by this very request before it was cut short or by anybody else, in words; undefined: the change is to be made.
 * A restart is about one instance, and so is a stop of one that runs by request: another one that came after is not touched. Pure.
 */
export const alreadyMade = ({ action, options, instance }: Change, { vm, vmi }: Pair): string | undefined => {
  const strategy = strategyOf(vm);
  const uid = vmi?.metadata?.uid ?? '';
  switch (action) {
    case 'start':
      if (strategy === 'Always') return 'the VM is to run by its run strategy';
      if (requestsOf(vm).some((request) => request.action === 'Start')) return 'a start is requested';
      return isAlive(vmi) && !isStopping(vm, vmi, strategy) ? `instance ${uid} runs or is starting` : undefined;
    case 'stop':
      // Whatever runs by then: the VM is not to run.
      if (strategy === 'Always' || strategy === 'Once') return undefined;
      if (vmi === undefined || isFinal(vmi.status?.phase)) return 'the instance has ended';
      if (uid !== instance) return `instance ${instance} has ended; ${uid}, which came after it, is left alone`;
      return isStopping(vm, vmi, strategy) && !isSooner(options.gracePeriod, vmi.spec.terminationGracePeriodSeconds)
        ? `instance ${uid} is being stopped`
        : undefined;
    case 'restart': {
      const requests = requestsOf(vm);
      const starts = requests.some((request) => request.action === 'Start');
      if (vmi === undefined) return starts ? 'a start is requested' : undefined;
      if (uid !== instance) return `instance ${instance} has ended; ${uid} came after it`;
      const stops = requests.some((request) => request.action === 'Stop' && request.uid === uid);
      return stops && starts ? `a restart of instance ${uid} is requested` : undefined;
    }
  }
};

const isSooner = (asked: number | undefined, has: number | undefined): boolean =>
  asked !== undefined && asked < (has ?? DEFAULT_GRACE_SECONDS);
