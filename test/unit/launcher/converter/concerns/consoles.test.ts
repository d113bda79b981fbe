import { expect, test } from '@jest/globals';
import { SERIAL_LOG, SERIAL_SOCKET } from '../../../../../api/launcher/paths.ts';
import { channels } from '../../../../../launcher/converter/concerns/channels.ts';
import { consoles } from '../../../../../launcher/converter/concerns/consoles.ts';
import { devicesOf, host, vmi, withDevices } from '../examples.ts';

test('the serial console is a socket with a log beside it', () => {
  const [serial] = devicesOf(consoles(vmi(), host())).serial ?? [];
  expect(serial).toMatchObject({ source: { '@mode': 'bind', '@path': SERIAL_SOCKET }, log: { '@file': SERIAL_LOG } });
});

test('the cluster may want no log, the VMI no console', () => {
  expect(devicesOf(consoles(vmi(), host({ serialConsoleLog: false }))).serial?.[0]?.log).toBeUndefined();
  expect(consoles(withDevices({ autoattachSerialConsole: false }), host())).toEqual({});
});

test("the guest agent's channel is always there", () => {
  expect(devicesOf(channels(vmi(), host())).channel?.map(({ target }) => target['@name'])).toEqual([
    'org.qemu.guest_agent.0',
  ]);
});
