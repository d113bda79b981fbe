import { expect, test } from '@jest/globals';
import { LibvirtDomain } from '../../../../launcher/domain-manager/libvirt-domain.ts';
import { LibvirtError, LibvirtErrorCode } from '../../../../launcher/libvirt/errors.ts';
import type { LibvirtSession } from '../../../../launcher/libvirt/session.ts';

const refused = (procedure: string, code: number): Error =>
  new LibvirtError(procedure, { code, domain: 10, message: 'refused' });

/** A libvirt in which each call on the domain ends like this. */
const domainWith = (calls: { lookup?: Error; destroy?: Error; undefine?: Error }): LibvirtDomain => {
  const answer = (error: Error | undefined) => (): Promise<object> =>
    error === undefined ? Promise.resolve({}) : Promise.reject(error);
  const client = { lookup: answer(calls.lookup), destroy: answer(calls.destroy), undefine: answer(calls.undefine) };
  return new LibvirtDomain('default_guest', { client: () => Promise.resolve(client) } as unknown as LibvirtSession);
};

const gone = LibvirtErrorCode.noDomain;
const notRunning = LibvirtErrorCode.operationInvalid;

test.each([
  ['a domain that was never there', { lookup: refused('domainLookupByName', gone) }],
  ['one that goes by another hand meanwhile', { destroy: refused('domainDestroy', gone) }],
  ['one that has ended by itself', { destroy: refused('domainDestroy', notRunning) }],
])('to destroy %s is a success', async (_, calls) => {
  await expect(domainWith(calls).destroy()).resolves.toBeUndefined();
});

test.each([
  ['a domain that was never there', { lookup: refused('domainLookupByName', gone) }],
  ['one that is forgotten by another hand meanwhile', { undefine: refused('domainUndefine', gone) }],
])('to forget %s is a success', async (_, calls) => {
  await expect(domainWith(calls).undefine()).resolves.toBeUndefined();
});

test('whatever else libvirt says against it is told', async () => {
  const busy = 38;
  await expect(domainWith({ destroy: refused('domainDestroy', busy) }).destroy()).rejects.toThrow(/domainDestroy/);
  await expect(domainWith({ undefine: refused('domainUndefine', notRunning) }).undefine()).rejects.toThrow(
    /domainUndefine/,
  );
});
