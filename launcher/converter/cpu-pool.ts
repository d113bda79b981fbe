import type { HostNumaCell } from '../../api/launcher/host-facts.ts';
import type { CpuTopology } from './topology.ts';

interface PoolCell {
  /** Cores with enough threads for one of the guest's cores. */
  whole: number[][];
  /** Threads of cores that are too small, and what is left of others. */
  rest: number[];
}

/**
 * The host CPUs of a Pod as threads on cores on NUMA cells, from which the guest's cores take: first whole host cores, then threads of broken ones
 * within a cell, and last, unless `strict`, from anywhere.
 */
export class CpuPool {
  readonly #cells: PoolCell[];
  readonly #threads: number;
  readonly #strict: boolean;

  constructor(host: HostNumaCell[], cpuSet: number[], threadsPerCore: number, strict: boolean) {
    this.#threads = threadsPerCore;
    this.#strict = strict;
    this.#cells = cores(host, cpuSet).map((cell) => ({
      whole: cell.filter((core) => core.length >= threadsPerCore),
      rest: cell.filter((core) => core.length < threadsPerCore).flat(),
    }));
  }

  /** Host CPUs for the guest's vCPUs in their order; undefined if they do not fit. */
  takeCores({ sockets, cores }: CpuTopology): number[] | undefined {
    const taken: number[] = [];
    const wanted = sockets * cores * this.#threads;
    const sources = [
      (cell: PoolCell) => this.#takeWhole(cell),
      (cell: PoolCell) => this.#takeRest(cell, this.#threads, this.#threads),
    ];
    if (!this.#strict) sources.push((cell: PoolCell) => this.#takeRest(cell, 1, wanted - taken.length));
    for (const take of sources)
      for (const cell of this.#cells)
        while (taken.length < wanted) {
          const threads = take(cell);
          if (threads.length === 0) break;
          taken.push(...threads);
        }
    return taken.length < wanted ? undefined : taken;
  }

  /** One more host CPU, rather from a broken core; undefined if none is left. */
  takeThread(): number | undefined {
    const cell = this.#cells.find(({ whole, rest }) => whole.length + rest.length > 0);
    if (cell === undefined) return undefined;
    return cell.rest.shift() ?? this.#split(cell, 1)[0];
  }

  #takeWhole(cell: PoolCell): number[] {
    return cell.whole.length > 0 ? this.#split(cell, this.#threads) : [];
  }

  #takeRest(cell: PoolCell, atLeast: number, atMost: number): number[] {
    return cell.rest.length >= atLeast ? cell.rest.splice(0, atMost) : [];
  }

  /** Takes threads of the first whole core; what is left stays whole if it can still carry a guest's core. */
  #split(cell: PoolCell, count: number): number[] {
    const [core = [], ...others] = cell.whole;
    const left = core.slice(count);
    if (left.length >= this.#threads) cell.whole = [left, ...others];
    else {
      cell.whole = others;
      cell.rest.push(...left);
    }
    return core.slice(0, count);
  }
}

/** Per cell its cores, per core those of its threads that the Pod may use. */
function cores(host: HostNumaCell[], cpuSet: number[]): number[][][] {
  const usable = new Set(cpuSet);
  const seen = new Set<number>();
  return host.map(({ cpus }) =>
    cpus.flatMap(({ id, siblings }) => {
      if (seen.has(id)) return [];
      const core = siblings.length === 0 ? [id] : siblings;
      core.forEach((thread) => seen.add(thread));
      return [core.filter((thread) => usable.has(thread))];
    }),
  );
}
