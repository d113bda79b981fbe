import { expect, test } from '@jest/globals';
import type { ClusterConfig } from '../../../../api/cluster-config/index.ts';
import { withDefaults } from '../../../../api/defaults/index.ts';
import { causesAgainstStart, causesText, unsupportedFeatures } from '../../../../api/validation/index.ts';
import { configured, withDomain } from '../../../support/instances.ts';
import { ofDomain } from './told.ts';

/** On a network of its own, so that only what the case is about is not there. */
const judge = (domain: { devices?: object }, spec: object): string[] =>
  ofDomain(unsupportedFeatures, { ...domain, devices: { autoattachPodInterface: false, ...domain.devices } }, spec);

test.each<[string, object, object]>([
  [
    'spec.accessCredentials',
    {},
    {
      accessCredentials: [
        { userPassword: { source: { secret: { secretName: 's' } }, propagationMethod: { qemuGuestAgent: {} } } },
      ],
    },
  ],
  ['spec.domain.devices.gpus', { devices: { gpus: [{ name: 'g', deviceName: 'v/g' }] } }, {}],
  [
    'spec.domain.launchSecurity',
    { launchSecurity: { sev: {} }, firmware: { bootloader: { efi: { secureBoot: false } } } },
    {},
  ],
  [
    'spec.domain.devices.disks[0].blockSize.matchVolume',
    { devices: { disks: [{ name: 'd', disk: {}, blockSize: { matchVolume: {} } }] } },
    { volumes: [{ name: 'd', emptyDisk: { capacity: '1Gi' } }] },
  ],
  ['spec.utilityVolumes', {}, { utilityVolumes: [{ name: 'u', claimName: 'c' }] }],
  ['spec.volumes[0].configMap', {}, { volumes: [{ name: 'a', configMap: { name: 'm' } }] }],
  [
    'spec.volumes[0].persistentVolumeClaim.hotpluggable',
    {},
    { volumes: [{ name: 'a', persistentVolumeClaim: { claimName: 'c', hotpluggable: true } }] },
  ],
])('%s', (field, domain, spec) => {
  expect(judge(domain, spec)).toEqual([`NotSupported ${field}`]);
});

test('what is turned off is not asked for', () => {
  expect(judge({ devices: { tpm: {}, autoattachVSOCK: false, gpus: [] } }, { accessCredentials: [] })).toEqual([]);
});

test('the cluster’s default binding is named with the remedy', () => {
  const vmi = withDomain({ memory: { guest: '1Gi' } });
  const text = (config: ClusterConfig): string => causesText(causesAgainstStart(withDefaults(vmi, config), config));
  expect(text(configured())).toMatch(/interfaces\[0\]\.bridge: not supported yet: .*defaultNetworkInterface/);
  expect(text(configured({ network: { defaultNetworkInterface: 'slirp' } }))).toMatch(
    /networks\[0\]\.name: the cluster's default binding slirp is gone: .*masquerade/,
  );
});
