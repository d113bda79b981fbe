import { expect, test } from '@jest/globals';
import { launchSecurityRules } from '../../../../api/validation/launch-security.ts';
import { gated } from '../../../support/instances.ts';
import { ofDomain } from './told.ts';

const FIELD = 'Invalid spec.launchSecurity';
const efi = (given: object = { secureBoot: false }): object => ({ firmware: { bootloader: { efi: given } } });
const gates = gated(['WorkloadEncryptionTDX']);

test.each<[string, object, object, string[]]>([
  ['SEV', { launchSecurity: { sev: {} }, ...efi() }, {}, []],
  ['none of them', { launchSecurity: {} }, {}, ['Forbidden spec.launchSecurity']],
  ['two of them', { launchSecurity: { sev: {}, snp: {} } }, {}, ['Forbidden spec.launchSecurity']],
  ['without EFI', { launchSecurity: { sev: {} } }, {}, [FIELD]],
  ['with Secure Boot', { launchSecurity: { snp: {} }, ...efi({}) }, {}, [FIELD]],
  ['TDX has its own Secure Boot', { launchSecurity: { tdx: {} }, ...efi({}) }, {}, []],
  ['TDX with SMM', { launchSecurity: { tdx: {} }, features: { smm: {} }, ...efi() }, {}, [FIELD]],
  [
    'SNP with variables that stay',
    { launchSecurity: { snp: {} }, ...efi({ secureBoot: false, persistent: true }) },
    {},
    [FIELD],
  ],
  ['attestation of a guest that runs', { launchSecurity: { sev: { attestation: {} } }, ...efi() }, {}, [FIELD]],
  ['attestation', { launchSecurity: { sev: { attestation: {} } }, ...efi() }, { startStrategy: 'Paused' }, []],
  [
    'booting from a network',
    { launchSecurity: { sev: {} }, ...efi(), devices: { interfaces: [{ name: 'a', bootOrder: 1 }] } },
    {},
    [FIELD],
  ],
])('%s', (_, domain, spec, expected) => {
  expect(ofDomain(launchSecurityRules, domain, { architecture: 'amd64', ...spec }, gates)).toEqual(expected);
});

test('each has its gate', () => {
  const closed = gated([], ['WorkloadEncryptionSEV']);
  for (const technique of ['sev', 'snp', 'tdx'])
    expect(
      ofDomain(launchSecurityRules, { launchSecurity: { [technique]: {} } }, { architecture: 'amd64' }, closed),
    ).toEqual([FIELD]);
});

test('other architectures', () => {
  const domain = { launchSecurity: { sev: {} } };
  expect(ofDomain(launchSecurityRules, domain, { architecture: 's390x' })).toEqual([]);
  expect(ofDomain(launchSecurityRules, domain, { architecture: 'arm64' })).toEqual(['Invalid spec.architecture']);
});
