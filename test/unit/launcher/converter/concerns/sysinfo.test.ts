import { expect, test } from '@jest/globals';
import { sysinfo } from '../../../../../launcher/converter/concerns/sysinfo.ts';
import { host, vmi } from '../examples.ts';

const entries = (list: { '@name': string; '#text': string }[] | undefined) =>
  list?.map((entry) => `${entry['@name']}=${entry['#text']}`);

test('by default the machine presents itself as KubeVirt', () => {
  const domain = { firmware: { uuid: 'u-1', serial: 's-1' } };
  expect(entries(sysinfo(vmi({ domain }), host()).sysinfo?.system.entry)).toEqual([
    'uuid=u-1',
    'serial=s-1',
    'manufacturer=KubeVirt',
    'family=KubeVirt',
    'product=None',
  ]);
});

test('the cluster may say otherwise', () => {
  const facts = host({ smbios: { manufacturer: 'Acme', product: 'Nest', sku: '7', version: '2' } });
  expect(entries(sysinfo(vmi(), facts).sysinfo?.system.entry)).toEqual([
    'manufacturer=Acme',
    'family=KubeVirt',
    'product=Nest',
    'sku=7',
    'version=2',
  ]);
});

test('a chassis shows what it has', () => {
  const domain = { chassis: { asset: 'a', manufacturer: 'm', serial: '' } };
  expect(entries(sysinfo(vmi({ domain }), host()).sysinfo?.chassis?.entry)).toEqual(['manufacturer=m', 'asset=a']);
  expect(sysinfo(vmi(), host()).sysinfo?.chassis).toBeUndefined();
});
