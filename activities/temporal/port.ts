import type { Attributes } from '../../api/contract/keywords.ts';

/** A workflow to start, and the signal that it gets either way. */
export interface SignalWithStart {
  workflow: string;
  workflowId: string;
  args: unknown[];
  signal: string;
  signalArgs: unknown[];
  /** One line for the UI. */
  summary: string;
  /** What it would write of itself first; an empty value is none. */
  attributes?: Attributes;
  /** Start it again although a run under this id has completed; otherwise only after one that failed or was terminated. */
  againAfterCompletion?: boolean;
}

/** Temporal as activities and the bridge need it: on the controller's queue. */
export interface WorkflowPort {
  /** Signals the workflow, after starting it if it does not run. One that may not run again gets nothing, and that is success. */
  signalWithStart(start: SignalWithStart): Promise<void>;
  /** Nobody listening is success. */
  signal(workflowId: string, signal: string, args: unknown[]): Promise<void>;
  /** Whether it runs, by the server's own word. A workflow that the server does not know does not. */
  isRunning(workflowId: string): Promise<boolean>;
  /** Answer to a question, also of a workflow that is over; undefined: the server does not know it. @throws when nobody answers within seconds */
  query<T>(workflowId: string, query: string): Promise<T | undefined>;
  /** Asks for something; under the same `updateId` it is done once. The reason if the workflow refuses, or there is none that runs. @throws when nobody answers within seconds */
  update<T>(workflowId: string, update: string, updateId: string): Promise<{ result: T } | { refusal: string }>;
  /** When somebody last asked for an activity of the queue, RFC 3339; undefined: nobody lately, as far as the server remembers. */
  lastPolled(queue: string): Promise<string | undefined>;
}
