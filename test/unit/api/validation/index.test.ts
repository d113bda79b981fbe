import { expect, test } from '@jest/globals';
import { withDefaults } from '../../../../api/defaults/index.ts';
import { causesAgainstStart, causesText, validateInstance } from '../../../../api/validation/index.ts';
import { configured, instance } from '../../../support/instances.ts';
import { short } from './told.ts';

const masquerade = configured({ network: { defaultNetworkInterface: 'masquerade' } });

/** What keeps a VMI of these parts from its start. */
const causes = (domain: object, spec: object = {}, metadata: object = {}): string[] => {
  const vmi = instance({ ...spec, domain: { devices: {}, memory: { guest: '256Mi' }, ...domain } }, metadata);
  return short(causesAgainstStart(withDefaults(vmi, masquerade), masquerade));
};
const volumes = (...list: object[]): object => ({ volumes: list });
const containerDisk = { image: 'r.test/os:1' };

test('a sound VMI has no causes', () => {
  const list = [
    { name: 'os', containerDisk },
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'scratch', emptyDisk: { capacity: '1Gi' } },
    { name: 'seed', cloudInitNoCloud: { userData: '#cloud-config', networkDataBase64: 'dmVyc2lvbjogMgo=' } },
  ];
  expect(causes({ devices: { disks: [{ name: 'os', disk: {} }], rng: {} } }, volumes(...list))).toEqual([]);
});

test('all causes come at once, with field and remedy', () => {
  const vmi = instance({ terminationGracePeriodSeconds: -1, volumes: [{ name: 'a', floppy: {} }] });
  const text = causesText(causesAgainstStart(withDefaults(vmi, masquerade), masquerade));
  expect(text).toContain('spec.domain.memory.guest: the guest has no memory: set it');
  expect(text).toContain('spec.volumes[0]: unknown volume type floppy: use for example containerDisk');
  expect(text).toContain('spec.terminationGracePeriodSeconds: -1 is negative');
});

test('what KubeVirt takes and virtflow cannot run yet keeps a VMI from its start, not from its creation', () => {
  const vmi = withDefaults(
    instance({ domain: { devices: { clientPassthrough: {} }, memory: { guest: '1Gi' } } }),
    masquerade,
  );
  expect(validateInstance(vmi, masquerade)).toEqual([]);
  expect(causesText(causesAgainstStart(vmi, masquerade))).toBe(
    'spec.domain.devices.clientPassthrough: not supported yet',
  );
});

test('labels that the system has written do not keep a VMI from its start', () => {
  const labels = { 'kubevirt.io/nodeName': 'node-1' };
  expect(causes({}, {}, { labels })).toEqual([]);
});
