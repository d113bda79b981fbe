if (Number(process.versions.node.split('.')[0]) < 24)
  throw new Error(`virtflow needs Node 24, this is ${process.version}: eval "$(./dev env)" puts it into PATH.`);

/** One project per kind of test, so that each runs alone: `npm run test:<project>`. */
const project = (name, timeout = 10_000) => ({
  displayName: name,
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  setupFilesAfterEnv: ['<rootDir>/test/support/timeout.ts'],
  globals: { TEST_TIMEOUT_MS: timeout },
});

export default {
  maxWorkers: 2,
  projects: [
    project('unit'),
    project('workflow', 120_000),
    project('replay', 120_000),
    project('integration', 120_000),
    project('e2e', 600_000),
  ],
};
