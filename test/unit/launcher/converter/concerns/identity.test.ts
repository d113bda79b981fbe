import { expect, test } from '@jest/globals';
import { identity } from '../../../../../launcher/converter/concerns/identity.ts';
import { host, vmi } from '../examples.ts';

test('a domain is named after namespace and name, and carries the uid', () => {
  expect(identity(vmi(), host())).toMatchObject({ name: 'aviary_finch', metadata: { kubevirt: { uid: '0b1c' } } });
});

test.each`
  kvmAvailable | useEmulation | type
  ${true}      | ${false}     | ${'kvm'}
  ${true}      | ${true}      | ${'kvm'}
  ${false}     | ${true}      | ${'qemu'}
`('KVM $kvmAvailable, emulation $useEmulation: $type', ({ type, ...facts }) => {
  expect(identity(vmi(), host(facts as object))['@type']).toBe(type);
});

test('without KVM and without leave to emulate there is no domain', () => {
  expect(() => identity(vmi(), host({ useEmulation: false }))).toThrow(/useEmulation/);
});
