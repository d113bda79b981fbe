import { expect, test } from '@jest/globals';
import { domainName, readConfig } from '../../../launcher/config.ts';

const env = {
  VIRTFLOW_VMI_NAMESPACE: 'ns',
  VIRTFLOW_VMI_NAME: 'vm',
  VIRTFLOW_VMI_UID: 'u',
  VIRTFLOW_POD_UID: 'p',
  VIRTFLOW_GRACE_PERIOD_SECONDS: '30',
};

test('the environment says whom the launcher serves', () => {
  const config = readConfig(env);
  expect(config).toEqual({ vmi: { namespace: 'ns', name: 'vm', uid: 'u' }, podUid: 'p', gracePeriodMs: 30_000 });
  expect(domainName(config.vmi)).toBe('ns_vm');
});

test('what is missing or malformed is named', () => {
  const { VIRTFLOW_VMI_UID: _, ...incomplete } = env;
  expect(() => readConfig(incomplete)).toThrow('VIRTFLOW_VMI_UID');
  expect(() => readConfig({ ...env, VIRTFLOW_GRACE_PERIOD_SECONDS: 'soon' })).toThrow('VIRTFLOW_GRACE_PERIOD_SECONDS');
});
