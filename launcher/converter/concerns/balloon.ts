import { virtioModel } from '../architecture.ts';
import { attached, onOff, type Concern } from '../concern.ts';

/** The balloon reports the guest's memory and gives free pages back. Without it: model none, else libvirt adds its own. */
export const balloon: Concern = (vmi, host) => {
  if (!attached(vmi.spec.domain.devices.autoattachMemBalloon)) return { devices: { memballoon: { '@model': 'none' } } };
  return {
    devices: {
      memballoon: {
        '@model': virtioModel(vmi),
        '@freePageReporting': onOff(host.freePageReporting),
        stats: host.memBalloonStatsPeriod === 0 ? undefined : { '@period': host.memBalloonStatsPeriod },
      },
    },
  };
};
