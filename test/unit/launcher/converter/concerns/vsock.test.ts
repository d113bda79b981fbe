import { expect, test } from '@jest/globals';
import { vsock } from '../../../../../launcher/converter/concerns/vsock.ts';
import { devicesOf, host, withDevices } from '../examples.ts';

test('a guest that was given a context id has its sockets, any other has none', () => {
  const given = { status: { VSOCKCID: 7 } as object };
  const of = (devices: object, changes = {}) => devicesOf(vsock(withDevices(devices, changes), host())).vsock;
  expect(of({ autoattachVSOCK: true }, given)).toEqual({
    ...{ '@model': 'virtio-non-transitional', cid: { '@auto': 'no', '@address': 7 } },
  });
  expect([of({ autoattachVSOCK: true }), of({}, given)]).toEqual([undefined, undefined]);
});
