import v8 from 'node:v8';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import { beat } from './heartbeat.ts';

/**
 * Loaded into every thread of the controller worker before anything else (`node --import`): takes off the thread that runs workflow code what costs more
 * than that code (docs/adr/0024).
 */

/** Without a time limit: for one Node makes a thread at each call. The main thread watches instead (`watchWorkflowThread`). */
type RunInContext = (this: vm.Script, context: vm.Context, options?: vm.RunningScriptOptions) => unknown;
const unlimited = (runInContext: RunInContext): RunInContext =>
  function (context, { timeout: _, ...options } = {}) {
    return runInContext.call(this, context, options);
  };

/** Nobody is told of each Promise: the SDK notes a stack for every one, for its query `__stack_trace`. */
const createHook: typeof v8.promiseHooks.createHook = () => () => undefined;

if (!isMainThread) {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it gets its script by call()
  vm.Script.prototype.runInContext = unlimited(vm.Script.prototype.runInContext);
  v8.promiseHooks.createHook = createHook;
  beat();
}
