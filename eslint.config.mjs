import js from '@eslint/js';
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import importX from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

/**
 * Imports point one way: api <- workflows <- workers; api <- activities <- workers; api <- launcher; api <- cli; api <- client <- examples.
 * Each entry says which folders a folder must not import from.
 */
const forbidden = {
  api: ['workflows', 'activities', 'workers', 'launcher', 'cli', 'client', 'deploy', 'test'],
  workflows: ['activities', 'workers', 'launcher', 'cli', 'client', 'deploy', 'test'],
  activities: ['workflows', 'workers', 'launcher', 'cli', 'client', 'deploy', 'test'],
  launcher: ['workflows', 'activities', 'workers', 'cli', 'client', 'deploy', 'test'],
  cli: ['workflows', 'activities', 'workers', 'launcher', 'deploy', 'test'],
  client: ['workflows', 'activities', 'workers', 'launcher', 'cli', 'deploy', 'test'],
  examples: ['api', 'workflows', 'activities', 'workers', 'launcher', 'cli', 'deploy', 'test'],
  workers: ['launcher', 'cli', 'client', 'deploy', 'test'],
  deploy: ['workflows', 'activities', 'workers', 'launcher', 'client', 'test'],
};

/** The one client of the API server serves the command line and the local cluster too. */
const except = (target, from) =>
  from === 'activities' && ['cli', 'deploy'].includes(target) ? { except: ['./kube'] } : {};

const zones = Object.entries(forbidden).flatMap(([target, froms]) =>
  froms.map((from) => ({
    target: `./${target}`,
    from: `./${from}`,
    ...except(target, from),
    message: `${target}/ must not import from ${from}/.`,
  })),
);

const packagesNotIn = (files, group, message) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: [{ group, message }] }] },
});

export default tseslint.config(
  { ignores: ['node_modules', 'artifacts'] },
  js.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly' } },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    plugins: { 'import-x': importX },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    settings: { 'import-x/resolver-next': [createTypeScriptImportResolver()] },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      'import-x/no-cycle': 'error',
      'import-x/no-restricted-paths': ['error', { basePath: import.meta.dirname, zones }],
    },
  },
  packagesNotIn(
    ['api/**/*.ts'],
    ['@temporalio/worker', '@temporalio/client', '@temporalio/activity', '@kubernetes/*', '@grpc/*', 'node:*'],
    'api/ holds plain contracts: no runtime libraries.',
  ),
  packagesNotIn(
    ['launcher/**/*.ts'],
    ['@temporalio/*', '@kubernetes/*'],
    'The launcher loads neither Temporal nor the Kubernetes client.',
  ),
  {
    files: ['workflows/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: [
                'node:*',
                'zod',
                '@kubernetes/*',
                '@grpc/*',
                '@temporalio/worker',
                '@temporalio/client',
                '@temporalio/activity',
              ],
              message: 'Workflow code is deterministic: no IO, no Node built-ins, no schemas.',
            },
          ],
        },
      ],
      'no-restricted-globals': ['error', 'process', 'performance', 'crypto', 'fetch', 'Temporal'],
    },
  },
  {
    files: ['test/**/*.ts', 'cli/**/*.ts', 'deploy/**/*.ts'],
    rules: { 'no-console': 'off', '@typescript-eslint/explicit-module-boundary-types': 'off' },
  },
);
