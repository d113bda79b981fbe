import type { InstanceState, Running } from './state.ts';

/**
 * A migration that has failed may have to wait long for a target that nobody answers for. The VMI's end does not wait with it: the guest, which stays
 * where it was, is shut down there, and the migration goes on clearing up beside that. What it clears holds nothing and can get nothing any more;
 * the object stays until it is gone.
 */
export const setAside = ({ operation: _, ...state }: InstanceState, { id }: Running): InstanceState => ({
  ...state,
  clearing: { id },
});

/** The migration has ended: nothing is left of it. */
export const cleared = ({ clearing: _clearing, target: _target, ...state }: InstanceState): InstanceState => state;

/** Nobody clears up any more: the target holds nothing, and is removed like anything else that is left. */
export const leftToClear = (state: InstanceState): InstanceState => {
  const { target } = state;
  const rest = cleared(state);
  return target === undefined ? rest : { ...rest, leftovers: [...rest.leftovers, target.pod] };
};
