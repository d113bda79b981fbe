import { expect, test } from '@jest/globals';
import { readConfig } from '../../../../workers/controller/config.ts';

test('only the launcher image has to be given', () => {
  expect(readConfig({ LAUNCHER_IMAGE: 'registry.example.com/launcher:1', POD_NAME: 'c-1' })).toEqual({
    podNamespace: 'virtflow',
    podName: 'c-1',
    logLevel: 'info',
    launcherImage: 'registry.example.com/launcher:1',
    healthPort: 8080,
    httpsPort: 9443,
    temporalMetricsPort: 9464,
    sweepMs: 60_000,
    maxCachedWorkflows: 500,
    certificates: { authorityMs: 365 * 86_400_000, certificateMs: 86_400_000, trustDelayMs: 86_400_000 },
  });
});

test('what is wrong is named, all at once', () => {
  const read = () => readConfig({ HEALTH_PORT: 'x', SWEEP_SECONDS: '-1' });
  expect(read).toThrow(/LAUNCHER_IMAGE/);
  expect(read).toThrow(/HEALTH_PORT/);
  expect(read).toThrow(/SWEEP_SECONDS/);
});

test('durations of certificates that do not fit into each other are refused', () => {
  const env = { LAUNCHER_IMAGE: 'launcher', CERTIFICATE_SECONDS: '600', CERTIFICATE_TRUST_DELAY_SECONDS: '120' };
  expect(() => readConfig({ ...env, CERTIFICATE_AUTHORITY_SECONDS: '2160' })).not.toThrow();
  expect(() => readConfig({ ...env, CERTIFICATE_AUTHORITY_SECONDS: '2159' })).toThrow(/CERTIFICATE_AUTHORITY_SECONDS/);
});
