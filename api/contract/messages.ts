import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common';

/** Typed message definitions without loading the workflow library: something happened. */
export const signal = <Args extends unknown[]>(name: string): SignalDefinition<Args> =>
  ({ type: 'signal', name }) as unknown as SignalDefinition<Args>;

/** A request that is accepted or refused at once. */
export const update = <Result, Args extends unknown[]>(name: string): UpdateDefinition<Result, Args> =>
  ({ type: 'update', name }) as unknown as UpdateDefinition<Result, Args>;

/** A question; reads only. */
export const query = <Result>(name: string): QueryDefinition<Result> =>
  ({ type: 'query', name }) as unknown as QueryDefinition<Result>;
