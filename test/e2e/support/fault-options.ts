import { randomInt } from 'node:crypto';
import { randomOf } from './random.ts';

/** How often each case is run. */
export const ROUNDS = Number(process.env['VIRTFLOW_FAULT_ROUNDS'] ?? 1);
/** Decides the instants at which faults happen. */
export const SEED = process.env['VIRTFLOW_FAULT_SEED'] ?? String(randomInt(1_000_000));
/** All cases; otherwise one of each kind. */
export const ALL = process.env['VIRTFLOW_FAULTS'] === 'all';
/** Migrations in a row; 0: not tried. */
export const MIGRATIONS = Number(process.env['VIRTFLOW_MIGRATIONS'] ?? 0);

export const rounds = Array.from({ length: ROUNDS }, (_, index) => index + 1);

/** So that a run can be repeated. */
export const announce = (): void =>
  void process.stderr.write(
    `VIRTFLOW_FAULT_SEED=${SEED} VIRTFLOW_FAULT_ROUNDS=${ROUNDS}${ALL ? ' VIRTFLOW_FAULTS=all' : ''}\n`,
  );

/** All of some cases; or the one that the seed draws for this round. */
export const drawn = <T>(what: string, round: number, some: readonly T[]): readonly T[] => {
  const one = some[Math.floor(randomOf(`${SEED}/${round}/${what}`)() * some.length)];
  return ALL || one === undefined ? some : [one];
};
