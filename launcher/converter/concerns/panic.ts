import { given, type Concern } from '../concern.ts';

/** Devices through which a guest says that it panicked. */
export const panic: Concern = (vmi) => ({
  devices: { panic: (vmi.spec.domain.devices.panicDevices ?? []).map(({ model }) => ({ '@model': given(model) })) },
});
