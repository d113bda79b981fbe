import { jest } from '@jest/globals';

// Jest reads `testTimeout` for all projects at once only; jest.config.mjs hands each project's over as a global.
jest.setTimeout((globalThis as unknown as { TEST_TIMEOUT_MS: number }).TEST_TIMEOUT_MS);
