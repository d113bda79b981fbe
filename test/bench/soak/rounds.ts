import { setTimeout as pause } from 'node:timers/promises';
import type { Figure } from '../figures.ts';
import type { Cycle } from './cycle.ts';
import { actionAt } from './cycle.ts';
import { growthOf } from './growth.ts';

const SAMPLE_MS = 10_000;
/** What must not grow. */
const OURS = new Set(['controller', 'nodes']);
/** Between two actions on a VM. */
const REST_MS = 2_000;

export interface Soak {
  cycle: Cycle;
  /** VMs that run. */
  names: readonly string[];
  minutes: number;
  /** Memory in use now, in MiB, by what uses it. */
  sample: () => Promise<Record<string, number>>;
  progress: (text: string) => void;
}

/** Starts, stops and restarts all VMs side by side, each in its own round, and watches the memory meanwhile. */
export async function soakFor({ cycle, names, minutes, sample, progress }: Soak): Promise<Figure[]> {
  const until = Date.now() + minutes * 60_000;
  const failures: string[] = [];
  let actions = 0;
  const rounds = async (name: string): Promise<void> => {
    for (let n = 0; Date.now() < until; n += 1) {
      const failed = await cycle.act(name, actionAt(n)).then(
        () => undefined,
        (error: unknown) => String(error),
      );
      // The VM is not in the state that the next action expects: it is left alone.
      if (failed !== undefined) return void failures.push(failed);
      actions += 1;
      await pause(REST_MS);
    }
  };
  const samples: Record<string, number>[] = [];
  const watch = async (): Promise<void> => {
    while (Date.now() < until) {
      const now = await sample();
      samples.push(now);
      const memory = Object.entries(now).map(([what, mib]) => `${what} ${mib.toFixed(0)} MiB`);
      progress(`${actions} actions, ${Math.ceil((until - Date.now()) / 60_000)} min left: ${memory.join(', ')}`);
      await pause(SAMPLE_MS);
    }
  };
  await Promise.all([watch(), ...names.map(rounds)]);
  for (const failure of failures) progress(failure);
  const of = (what: string): number[] => samples.map((one) => one[what] ?? NaN);
  return [
    { name: `starts, stops and restarts of ${names.length} VMs in ${minutes} min`, value: actions, unit: 'actions' },
    { name: 'actions that did not come to their end', value: failures.length, unit: 'actions', limit: 0 },
    ...Object.keys(samples[0] ?? {}).map((what) => growthOf(what, of(what), OURS.has(what))),
  ];
}
