import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from '@jest/globals';
import { watchWorkflowThread } from '../../../../../workers/controller/workflow-thread/heartbeat.ts';
import { until } from '../../../../support/until.ts';

const LEAN = new URL('../../../../../workers/controller/workflow-thread/lean.ts', import.meta.url).href;
const LOOK_MS = 50;

let thread: Worker | undefined;
const stopped = new AbortController();
const start = (script: string): Worker =>
  (thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), {
    execArgv: ['--import', LEAN, '--no-warnings'],
  }));

afterEach(async () => {
  stopped.abort();
  await thread?.terminate();
});

test('in the thread of workflows code runs without a time limit of its own, and Promises are counted by nobody', async () => {
  const worker = start(`
    import { parentPort } from 'node:worker_threads';
    import { promiseHooks } from 'node:v8';
    import vm from 'node:vm';
    let promises = 0;
    const stop = promiseHooks.createHook({ init: () => (promises += 1) });
    const script = new vm.Script('const end = Date.now() + 50; while (Date.now() < end); void Promise.resolve(); 42');
    const result = script.runInContext(vm.createContext(), { timeout: 1, displayErrors: true });
    stop();
    parentPort.postMessage({ result, promises });
  `);
  const [said] = (await once(worker, 'message')) as [unknown];
  expect(said).toEqual({ result: 42, promises: 0 });
});

test('a thread whose code never returns is noticed once it was heard', async () => {
  const told: unknown[] = [];
  void watchWorkflowThread(stopped.signal, LOOK_MS).catch((error: unknown) => told.push(error));
  // It beats, and then hangs.
  start(`setTimeout(() => { for (;;); }, 1500)`);
  await until('the silence is told', () => told.length > 0, { timeoutMs: 20_000, everyMs: 20 });
  expect(String(told[0])).toMatch(/has not returned/);
});
