import { virtioModel } from '../architecture.ts';
import type { Concern } from '../concern.ts';

/** Sockets between guest and host, by the context id that the controller gave the guest. */
export const vsock: Concern = (vmi) => {
  const { status } = vmi;
  const cid = status !== undefined && 'VSOCKCID' in status ? Number(status.VSOCKCID) : 0;
  if (vmi.spec.domain.devices.autoattachVSOCK !== true || !(cid > 0)) return {};
  return { devices: { vsock: { '@model': virtioModel(vmi), cid: { '@auto': 'no', '@address': cid } } } };
};
