import { alias, given, type Concern } from '../concern.ts';
import { ConversionError } from '../errors.ts';

const MODELS = { amd64: 'i6300esb', s390x: 'diag288' } as const;

/** The watchdog device of the guest's architecture. */
export const watchdog: Concern = (vmi) => {
  const spec = vmi.spec.domain.devices.watchdog;
  if (!spec) return {};
  const field = 'spec.domain.devices.watchdog';
  const architecture = vmi.spec.architecture ?? 'amd64';
  if (architecture !== 'amd64' && architecture !== 's390x')
    throw new ConversionError(field, `there is no watchdog device on ${architecture}`);
  const model = MODELS[architecture];
  const device = spec[model];
  if (!device) throw new ConversionError(`${field}.${model}`, `is the watchdog of ${architecture} and missing`);
  return { devices: { watchdog: [{ '@model': model, '@action': given(device.action), alias: alias(spec.name) }] } };
};
