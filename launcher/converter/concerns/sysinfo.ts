import { given, type Concern } from '../concern.ts';
import type { SysInfoEntry } from '../domain.ts';

const entries = (values: Record<string, string | undefined>): SysInfoEntry[] =>
  Object.entries(values).flatMap(([name, text]) =>
    given(text) === undefined ? [] : [{ '@name': name, '#text': text ?? '' }],
  );

/**
 * SMBIOS tables. Guests (cloud-init, Windows activation) recognise the platform by them, so the defaults stay KubeVirt's.
 */
export const sysinfo: Concern = (vmi, host) => {
  const { firmware, chassis = {} } = vmi.spec.domain;
  const { manufacturer = 'KubeVirt', family = 'KubeVirt', product = 'None', sku, version } = host.smbios ?? {};
  const chassisEntries = entries({
    manufacturer: chassis.manufacturer,
    version: chassis.version,
    serial: chassis.serial,
    asset: chassis.asset,
    sku: chassis.sku,
  });
  return {
    sysinfo: {
      '@type': 'smbios',
      system: {
        entry: entries({ uuid: firmware?.uuid, serial: firmware?.serial, manufacturer, family, product, sku, version }),
      },
      chassis: chassisEntries.length === 0 ? undefined : { entry: chassisEntries },
    },
  };
};
