import type { WorkflowPort } from '../../activities/temporal/port.ts';

const refuse = (): Promise<never> => Promise.reject(new Error('this test has no workflows'));

/** For activities that have nothing to do with Temporal. */
export const noWorkflows: WorkflowPort = {
  signalWithStart: refuse,
  signal: refuse,
  isRunning: refuse,
  query: refuse,
  update: refuse,
  lastPolled: refuse,
};
