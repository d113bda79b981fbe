import { alias, type Concern } from '../concern.ts';
import { ConversionError } from '../errors.ts';

const MODELS = ['ich9', 'ac97'];

export const sound: Concern = (vmi) => {
  const spec = vmi.spec.domain.devices.sound;
  if (!spec) return {};
  const model = spec.model || 'ich9';
  if (!MODELS.includes(model))
    throw new ConversionError('spec.domain.devices.sound.model', `"${model}" is not one of ${MODELS.join(', ')}`);
  return { devices: { sound: [{ '@model': model, alias: alias(spec.name) }] } };
};
