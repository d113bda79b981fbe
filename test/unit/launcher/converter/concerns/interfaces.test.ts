import { expect, test } from '@jest/globals';
import { interfaces } from '../../../../../launcher/converter/concerns/interfaces.ts';
import { devicesOf, host, withDevices } from '../examples.ts';

type Specs = NonNullable<Parameters<typeof withDevices>[0]['interfaces']>;

const convert = (specs: Specs, facts = host(), devices: object = {}, architecture = 'amd64') => {
  const networks = specs.map(({ name }) => ({ name, pod: {} }));
  const domain = { cpu: { sockets: 2, cores: 2 } };
  return devicesOf(
    interfaces(withDevices({ interfaces: specs, ...devices }, { domain, spec: { networks, architecture } }), facts),
  ).interface;
};

test('an interface is plugged into a tap device that is there already', () => {
  expect(convert([{ name: 'nest', masquerade: {} }])).toEqual([
    {
      '@type': 'ethernet',
      target: { '@dev': 'tap0', '@managed': 'no' },
      model: { '@type': 'virtio-non-transitional' },
      rom: { '@enabled': 'no' },
      alias: { '@name': 'ua-nest' },
    },
  ]);
});

test('each interface has a tap device of its own', () => {
  const all = convert([
    { name: 'a', bridge: {} },
    { name: 'b', bridge: {} },
  ]);
  expect(all?.map(({ target }) => target?.['@dev'])).toEqual(['tap0', 'tap1']);
});

test.each`
  says                 | spec                                   | becomes
  ${'its MAC'}         | ${{ macAddress: '02:00:00:00:00:01' }} | ${{ mac: { '@address': '02:00:00:00:00:01' } }}
  ${'a model'}         | ${{ model: 'e1000e' }}                 | ${{ model: { '@type': 'e1000e' } }}
  ${'a boot order'}    | ${{ bootOrder: 3 }}                    | ${{ boot: { '@order': 3 }, rom: undefined }}
  ${'that it is down'} | ${{ state: 'down' }}                   | ${{ link: { '@state': 'down' } }}
  ${'an ACPI index'}   | ${{ acpiIndex: 5 }}                    | ${{ acpi: { '@index': 5 } }}
  ${'a PCI address'}   | ${{ pciAddress: '0000:81:01.7' }}      | ${{ address: { '@bus': '0x81', '@slot': '0x01', '@function': '0x7' } }}
`('an interface that says $says', ({ spec, becomes }) => {
  expect(convert([{ name: 'nest', ...(spec as object) }])?.[0]).toMatchObject(becomes as object);
});

test('the network set-up may choose MAC and MTU; a MAC of the spec comes first', () => {
  const facts = host({ mtu: 1400, macAddresses: { a: '02:00:00:00:00:0a', b: '02:00:00:00:00:0b' } });
  const all = convert([{ name: 'a' }, { name: 'b', macAddress: '02:00:00:00:00:ff' }], facts);
  expect(all?.map(({ mac, mtu }) => [mac?.['@address'], mtu?.['@size']])).toEqual([
    ['02:00:00:00:00:0a', 1400],
    ['02:00:00:00:00:ff', 1400],
  ]);
});

test('multi-queue is one queue per vCPU, on virtio', () => {
  const all = convert([{ name: 'a' }, { name: 'b', model: 'e1000' }], host(), { networkInterfaceMultiqueue: true });
  expect(all?.map(({ driver }) => driver?.['@queues'])).toEqual([4, undefined]);
});

test('an interface that shall be absent is left out', () => {
  expect(convert([{ name: 'a', state: 'absent' }, { name: 'b' }])?.map(({ alias }) => alias['@name'])).toEqual([
    'ua-b',
  ]);
});

test('option ROMs exist on PCI only', () => {
  expect(convert([{ name: 'a' }], host(), {}, 's390x')?.[0]).toMatchObject({
    rom: undefined,
    model: { '@type': 'virtio' },
  });
});

test.each([
  ['an interface without a network', withDevices({ interfaces: [{ name: 'a' }] }), /interfaces\[a\]: no network/],
  [
    'a PCI address that is none',
    withDevices(
      { interfaces: [{ name: 'a', pciAddress: '81:01.0' }] },
      { spec: { networks: [{ name: 'a', pod: {} }] } },
    ),
    /pciAddress: "81:01.0"/,
  ],
])('%s is refused', (_, instance, message) => {
  expect(() => interfaces(instance, host())).toThrow(message);
});

test('passt forwards the ports that are named, or all', () => {
  const forwards = (ports?: object[]) =>
    devicesOf(
      interfaces(
        withDevices(
          { interfaces: [{ name: 'a', passtBinding: {}, ...(ports ? { ports: ports as [] } : {}) }] },
          { spec: { networks: [{ name: 'a', pod: {} }] } },
        ),
        host(),
      ),
    ).interface?.map((nic) => [nic['@type'], nic.portForward]);
  expect(forwards()).toEqual([['vhostuser', [{ '@proto': 'tcp' }, { '@proto': 'udp' }]]]);
  expect(forwards([{ port: 80 }, { port: 81, protocol: 'TCP' }])).toEqual([
    ['vhostuser', [{ '@proto': 'tcp', range: [{ '@start': 80 }, { '@start': 81 }] }]],
  ]);
});

test('what others bring has no tap device, and does not count among them', () => {
  const instance = withDevices(
    {
      interfaces: [
        { name: 'function', sriov: {} },
        { name: 'plugin', binding: { name: 'x' } },
        { name: 'tapped', binding: { name: 'y' } },
      ],
    },
    { spec: { networks: ['function', 'plugin', 'tapped'].map((name) => ({ name, multus: { networkName: name } })) } },
  );
  const made = devicesOf(interfaces(instance, host({ domainAttachment: { tapped: 'tap' } }))).interface;
  expect(made?.map(({ alias, target }) => [alias['@name'], target?.['@dev']])).toEqual([['ua-tapped', 'tap0']]);
});
