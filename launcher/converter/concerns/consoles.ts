import { SERIAL_LOG, SERIAL_SOCKET } from '../../../api/launcher/paths.ts';
import { attached, type Concern } from '../concern.ts';

/** The first serial port: a unix socket that QEMU listens on, so that a console can come and go, and a log beside it. */
export const consoles: Concern = (vmi, host) => {
  if (!attached(vmi.spec.domain.devices.autoattachSerialConsole)) return {};
  return {
    devices: {
      serial: [
        {
          '@type': 'unix',
          source: { '@mode': 'bind', '@path': SERIAL_SOCKET },
          log: host.serialConsoleLog ? { '@file': SERIAL_LOG, '@append': 'on' } : undefined,
          target: { '@port': 0 },
        },
      ],
      console: [{ '@type': 'pty', target: { '@type': 'serial', '@port': 0 } }],
    },
  };
};
