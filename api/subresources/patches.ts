import type { StateChangeRequest, VirtualMachine, VirtualMachineInstance } from '../kubevirt/types.ts';

/** One operation of a JSON patch (RFC 6902). */
export type Operation =
  { op: 'test' | 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string };

const REQUESTS = '/status/stateChangeRequests';
const GRACE_PERIOD = '/spec/terminationGracePeriodSeconds';
const EVACUATION = '/status/evacuationNodeName';

/** What is absent is tested as null. */
const test = (path: string, value: unknown): Operation => ({ op: 'test', path, value: value ?? null });

/** A value becomes another one, if it is still what was read. */
const change = (path: string, from: unknown, to: unknown): Operation[] => [
  test(path, from),
  to === undefined ? { op: 'remove', path } : { op: 'add', path, value: to },
];

/**
 * Patch of a VM's status that makes `requests` its list of requests: nobody else's request is lost, since the list must still be as it was read. A
 * request made by hand ends the back-off after failed starts.
 */
export const requestsPatch = ({ status }: VirtualMachine, requests: readonly StateChangeRequest[]): Operation[] => {
  if (status === undefined || Object.keys(status).length === 0) {
    return change('/status', status, { stateChangeRequests: requests });
  }
  return [
    ...change(REQUESTS, status.stateChangeRequests, requests),
    ...(status.startFailure === undefined ? [] : [{ op: 'remove' as const, path: '/status/startFailure' }]),
  ];
};

/** Patch of a VM: runs from now on, or stays halted, in the field that the VM uses. */
export const runPatch = ({ spec }: VirtualMachine, running: boolean): Operation[] =>
  spec.runStrategy === undefined && spec.running !== undefined
    ? change('/spec/running', spec.running, running)
    : change('/spec/runStrategy', spec.runStrategy, running ? 'Always' : 'Halted');

/** Patch of an instance and the one that takes it back: how long its guest gets to shut down, in seconds. */
export const gracePeriodPatch = (
  { spec }: VirtualMachineInstance,
  seconds: number,
): { operations: Operation[]; undo: Operation[] } => ({
  operations: change(GRACE_PERIOD, spec.terminationGracePeriodSeconds, seconds),
  undo: change(GRACE_PERIOD, seconds, spec.terminationGracePeriodSeconds),
});

/** Patch of an instance: it need not leave the node any more that it was asked to leave. */
export const evacuationCancelPatch = (nodeName: string): Operation[] => change(EVACUATION, nodeName, undefined);
