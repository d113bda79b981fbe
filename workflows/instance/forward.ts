import type { Forwarded, InstanceCommand, InstanceState } from './state.ts';

/** Passes a message on to whatever is under way. */
export const forward = ({ operation, clearing }: InstanceState, message: Forwarded): InstanceCommand[] =>
  [operation, clearing].flatMap((one) => (one === undefined ? [] : [{ type: 'forward', id: one.id, message }]));
