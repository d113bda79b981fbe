import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { alias, attached, type Concern } from '../concern.ts';
import type { Input } from '../domain.ts';
import { ConversionError } from '../errors.ts';

function asked(vmi: VirtualMachineInstance): Input[] {
  return (vmi.spec.domain.devices.inputs ?? []).map(({ name, type, bus: wanted }) => {
    const field = `spec.domain.devices.inputs[${name}]`;
    const bus = wanted || 'usb';
    if (bus !== 'usb' && bus !== 'virtio')
      throw new ConversionError(`${field}.bus`, `"${bus}" is neither usb nor virtio`);
    if (type !== 'tablet') throw new ConversionError(`${field}.type`, `"${type}" is not supported, only tablet is`);
    return { '@type': type, '@bus': bus, '@model': bus === 'virtio' ? 'virtio' : undefined, alias: alias(name) };
  });
}

/** Machines without PS/2 get a keyboard with their display, and a pointer where USB carries it. */
function withDisplay(vmi: VirtualMachineInstance): Input[] {
  if (!attached(vmi.spec.domain.devices.autoattachGraphicsDevice)) return [];
  switch (vmi.spec.architecture) {
    case 'arm64': {
      const tablet = asked(vmi).some((input) => input['@type'] === 'tablet');
      return [...(tablet ? [] : [{ '@type': 'tablet', '@bus': 'usb' }]), { '@type': 'keyboard', '@bus': 'usb' }];
    }
    case 's390x':
      return [{ '@type': 'keyboard', '@bus': 'virtio' }];
    default:
      return [];
  }
}

export const inputs: Concern = (vmi) => ({ devices: { input: [...asked(vmi), ...withDisplay(vmi)] } });
