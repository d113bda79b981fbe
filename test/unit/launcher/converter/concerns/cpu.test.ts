import { expect, test } from '@jest/globals';
import { cpu } from '../../../../../launcher/converter/concerns/cpu.ts';
import { host, vmi } from '../examples.ts';

const cpuOf = (spec: object, architecture = 'amd64') =>
  cpu(vmi({ domain: { cpu: spec }, spec: { architecture } }), host());

test.each`
  model                 | becomes
  ${undefined}          | ${{ '@mode': 'host-model' }}
  ${'host-model'}       | ${{ '@mode': 'host-model' }}
  ${'host-passthrough'} | ${{ '@mode': 'host-passthrough' }}
  ${'Nehalem'}          | ${{ '@mode': 'custom', model: 'Nehalem' }}
`('model $model', ({ model, becomes }) => {
  expect(cpuOf({ model: model as string }).cpu).toMatchObject(becomes as object);
});

test('named models lose the retired feature mpx, unless the VMI says something of it', () => {
  const features = (spec: object, architecture?: string) => cpuOf(spec, architecture).cpu?.feature;
  expect(features({ model: 'Nehalem' })).toEqual([{ '@name': 'mpx', '@policy': 'disable' }]);
  expect(features({ model: 'Nehalem', features: [{ name: 'mpx', policy: 'require' }] })).toEqual([
    { '@name': 'mpx', '@policy': 'require' },
  ]);
  expect(features({ model: 'host-model', features: [{ name: 'aes' }] })).toEqual([{ '@name': 'aes' }]);
  expect(features({ model: 'gen15a' }, 's390x')).toEqual([]);
});

test('sockets up to maxSockets are there to be plugged in; the first one stays', () => {
  const { vcpu, vcpus, cpu } = cpuOf({ sockets: 2, cores: 1, threads: 2, maxSockets: 3 });
  expect(cpu?.topology).toEqual({ '@sockets': 3, '@cores': 1, '@threads': 2 });
  expect(vcpu?.['#text']).toBe(6);
  expect(vcpus?.vcpu.map((state) => `${state['@id']} ${state['@enabled']} ${state['@hotpluggable']}`)).toEqual([
    '0 yes no',
    '1 yes no',
    '2 yes yes',
    '3 yes yes',
    '4 no yes',
    '5 no yes',
  ]);
});

test('where CPUs cannot be plugged in, maxSockets has no effect', () => {
  const { vcpu, vcpus } = cpuOf({ sockets: 2, maxSockets: 8 }, 'arm64');
  expect([vcpu?.['#text'], vcpus]).toEqual([2, undefined]);
});

test.each`
  resources                                         | sockets
  ${{ limits: { cpu: '1500m' } }}                   | ${2}
  ${{ requests: { cpu: '3' } }}                     | ${3}
  ${{ limits: { cpu: '4' }, requests: { cpu: 1 } }} | ${4}
  ${{}}                                             | ${1}
`('without a topology $resources gives $sockets sockets', ({ resources, sockets }) => {
  const { cpu: converted } = cpu(vmi({ domain: { cpu: {}, resources: resources as object } }), host());
  expect(converted?.topology['@sockets']).toBe(sockets);
});

test('huge pages bring a NUMA cell with all vCPUs and all memory', () => {
  const domain = { cpu: { sockets: 2, cores: 2 }, memory: { guest: '64Mi', hugepages: { pageSize: '2Mi' } } };
  expect(cpu(vmi({ domain }), host()).cpu?.numa).toEqual({
    cell: [{ '@id': 0, '@cpus': '0-3', '@memory': 65536, '@unit': 'KiB' }],
  });
});
