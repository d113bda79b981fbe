import { expect, test } from '@jest/globals';
import { balloon } from '../../../../../launcher/converter/concerns/balloon.ts';
import { graphics } from '../../../../../launcher/converter/concerns/graphics.ts';
import { inputs } from '../../../../../launcher/converter/concerns/inputs.ts';
import { panic } from '../../../../../launcher/converter/concerns/panic.ts';
import { rng } from '../../../../../launcher/converter/concerns/rng.ts';
import { sound } from '../../../../../launcher/converter/concerns/sound.ts';
import { tpm } from '../../../../../launcher/converter/concerns/tpm.ts';
import { usbRedirection } from '../../../../../launcher/converter/concerns/usb-redirection.ts';
import { watchdog } from '../../../../../launcher/converter/concerns/watchdog.ts';
import { devicesOf, host, vmi, withDevices } from '../examples.ts';

type DevicesSpec = Parameters<typeof withDevices>[0];
const on = (architecture: string, devices: DevicesSpec = {}) => withDevices(devices, { spec: { architecture } });

test.each`
  devices                            | facts                           | becomes
  ${{}}                              | ${{}}                           | ${{ '@model': 'virtio-non-transitional', '@freePageReporting': 'on', stats: { '@period': 10 } }}
  ${{ useVirtioTransitional: true }} | ${{}}                           | ${{ '@model': 'virtio-transitional' }}
  ${{}}                              | ${{ freePageReporting: false }} | ${{ '@freePageReporting': 'off' }}
  ${{}}                              | ${{ memBalloonStatsPeriod: 0 }} | ${{ stats: undefined }}
  ${{ autoattachMemBalloon: false }} | ${{}}                           | ${{ '@model': 'none' }}
`('balloon with $devices on $facts', ({ devices, facts, becomes }) => {
  const part = balloon(withDevices(devices as DevicesSpec), host(facts as object));
  expect(devicesOf(part).memballoon).toMatchObject(becomes as object);
});

test('a random number generator is there when asked for', () => {
  expect(devicesOf(rng(vmi(), host())).rng).toBeUndefined();
  expect(devicesOf(rng(withDevices({ rng: {} }), host())).rng).toEqual({
    '@model': 'virtio-non-transitional',
    backend: { '@model': 'random', '#text': '/dev/urandom' },
  });
});

const efi = { firmware: { bootloader: { efi: {} } } };

test.each`
  instance                                     | facts                           | model
  ${vmi()}                                     | ${{}}                           | ${'vga'}
  ${vmi({ domain: efi })}                      | ${{}}                           | ${'bochs'}
  ${vmi({ domain: efi })}                      | ${{ bochsForEFIGuests: false }} | ${'vga'}
  ${on('arm64')}                               | ${{}}                           | ${'virtio'}
  ${withDevices({ video: { type: 'ramfb' } })} | ${{}}                           | ${'ramfb'}
`('display $model', ({ instance, facts, model }) => {
  const { video, graphics: servers } = devicesOf(graphics(instance as ReturnType<typeof vmi>, host(facts as object)));
  expect([video?.[0]?.model['@type'], servers?.[0]?.['@type']]).toEqual([model, 'vnc']);
});

test('a VMI without graphics has neither display nor VNC server', () => {
  expect(graphics(withDevices({ autoattachGraphicsDevice: false }), host())).toEqual({});
});

test.each`
  instance                                                                     | becomes
  ${vmi()}                                                                     | ${[]}
  ${withDevices({ inputs: [{ name: 'pad', type: 'tablet', bus: 'virtio' }] })} | ${['virtio tablet']}
  ${withDevices({ inputs: [{ name: 'pad', type: 'tablet' }] })}                | ${['usb tablet']}
  ${on('arm64')}                                                               | ${['usb tablet', 'usb keyboard']}
  ${on('arm64', { inputs: [{ name: 'pad', type: 'tablet', bus: 'usb' }] })}    | ${['usb tablet', 'usb keyboard']}
  ${on('arm64', { autoattachGraphicsDevice: false })}                          | ${[]}
  ${on('s390x')}                                                               | ${['virtio keyboard']}
`('inputs $becomes', ({ instance, becomes }) => {
  const { input } = devicesOf(inputs(instance as ReturnType<typeof vmi>, host()));
  expect(input?.map((device) => `${device['@bus']} ${device['@type']}`)).toEqual(becomes);
});

test.each([
  [{ name: 'pad', type: 'tablet', bus: 'ps2' }, /inputs\[pad\]\.bus: "ps2"/],
  [{ name: 'pad', type: 'mouse' }, /inputs\[pad\]\.type: "mouse"/],
])('input %p is refused', (input, message) => {
  expect(() => inputs(withDevices({ inputs: [input] }), host())).toThrow(message);
});

test.each`
  architecture | spec                                     | becomes
  ${'amd64'}   | ${{ i6300esb: { action: 'reset' } }}     | ${{ '@model': 'i6300esb', '@action': 'reset' }}
  ${'amd64'}   | ${{ i6300esb: {} }}                      | ${{ '@model': 'i6300esb' }}
  ${'s390x'}   | ${{ diag288: { action: 'inject-nmi' } }} | ${{ '@model': 'diag288', '@action': 'inject-nmi' }}
`('watchdog of $architecture', ({ architecture, spec, becomes }) => {
  const instance = on(architecture as string, { watchdog: { name: 'dog', ...(spec as object) } });
  expect(devicesOf(watchdog(instance, host())).watchdog?.[0]).toEqual({
    ...(becomes as object),
    alias: { '@name': 'ua-dog' },
  });
});

test.each([
  ['amd64', /i6300esb: is the watchdog of amd64 and missing/],
  ['arm64', /no watchdog device on arm64/],
])('a watchdog that %s does not have is refused', (architecture, message) => {
  const instance = on(architecture, { watchdog: { name: 'dog', diag288: {} } });
  expect(() => watchdog(instance, host())).toThrow(message);
});

test.each`
  spec                    | becomes
  ${undefined}            | ${undefined}
  ${{ enabled: false }}   | ${undefined}
  ${{}}                   | ${'tpm-tis'}
  ${{ persistent: true }} | ${'tpm-crb'}
`('TPM $spec: $becomes', ({ spec, becomes }) => {
  const instance = withDevices(spec === undefined ? {} : { tpm: spec as object });
  expect(devicesOf(tpm(instance, host())).tpm?.[0]?.['@model']).toBe(becomes);
});

test.each`
  model        | becomes
  ${undefined} | ${'ich9'}
  ${'ac97'}    | ${'ac97'}
`('sound card $model', ({ model, becomes }) => {
  const spec = model === undefined ? {} : { model: model };
  expect(devicesOf(sound(withDevices({ sound: { name: 's', ...spec } }), host())).sound?.[0]?.['@model']).toBe(becomes);
});

test('a sound card that nobody knows is refused', () => {
  expect(() => sound(withDevices({ sound: { name: 's', model: 'gus' } }), host())).toThrow(/sound\.model: "gus"/);
});

test('panic devices and USB channels are there when asked for', () => {
  expect(devicesOf(panic(withDevices({ panicDevices: [{ model: 'isa' }, {}] }), host())).panic).toEqual([
    { '@model': 'isa' },
    {},
  ]);
  expect(devicesOf(usbRedirection(withDevices({ clientPassthrough: {} }), host())).redirdev).toHaveLength(4);
  expect(usbRedirection(vmi(), host())).toEqual({});
});
