import { virtioModel } from '../architecture.ts';
import type { Concern } from '../concern.ts';

export const rng: Concern = (vmi) =>
  vmi.spec.domain.devices.rng === undefined
    ? {}
    : { devices: { rng: { '@model': virtioModel(vmi), backend: { '@model': 'random', '#text': '/dev/urandom' } } } };
