import { describe, expect, test } from '@jest/globals';
import { UnreadableObject, parseInstance, parseVirtualMachine } from '../../../../api/schemas/index.ts';

const vmi = (spec: object): object => ({ metadata: { namespace: 'shop', name: 'web' }, spec });

describe('what is let through', () => {
  test('fields of other releases, at every depth', () => {
    const given = vmi({ domain: { devices: { later: 1, disks: [{ name: 'a', later: 2 }] }, later: 3 }, later: 4 });
    expect(parseInstance(given)).toEqual(given);
  });

  test('quantities as numbers are read as text', () => {
    const given = vmi({ domain: { devices: {}, memory: { guest: 1024 }, resources: { requests: { cpu: 2 } } } });
    expect(parseInstance(given).spec.domain).toMatchObject({
      memory: { guest: '1024' },
      resources: { requests: { cpu: '2' } },
    });
  });

  test('null is absent', () => {
    const vm = { metadata: { name: 'web' }, spec: { template: { metadata: { creationTimestamp: null }, spec: null } } };
    expect(parseVirtualMachine(vm).spec).toEqual({ template: { metadata: {} } });
  });

  test('a spec without domain or devices is filled, so that validation can name what is missing', () => {
    expect(parseInstance(vmi({})).spec).toEqual({ domain: { devices: {} } });
  });
});

describe('what is refused names kind, object and field', () => {
  test.each<[string, object]>([
    ['spec.domain.devices.disks[1].name', { domain: { devices: { disks: [{ name: 'a' }, {}] } } }],
    ['spec.domain.cpu.cores', { domain: { cpu: { cores: 'two' } } }],
    ['spec.domain.cpu.cores', { domain: { cpu: { cores: -1 } } }],
    ['spec.domain.memory.guest', { domain: { memory: { guest: 'lots' } } }],
    ['spec.terminationGracePeriodSeconds', { terminationGracePeriodSeconds: '30' }],
    ['spec.volumes', { volumes: {} }],
    ['spec.volumes[0].cloudInitNoCloud.userData', { volumes: [{ name: 'a', cloudInitNoCloud: { userData: {} } }] }],
    ['spec.networks[0].multus.networkName', { networks: [{ name: 'a', multus: {} }] }],
  ])('%s', (field, spec) => {
    const read = (): unknown => parseInstance(vmi(spec));
    expect(read).toThrow(UnreadableObject);
    expect(read).toThrow(`VirtualMachineInstance shop/web cannot be read: ${field}: `);
  });

  test('all fields at once', () => {
    const given = vmi({ architecture: 1, hostname: 2 });
    expect(() => parseInstance(given)).toThrow(/spec\.architecture: .*; spec\.hostname: /);
  });

  test('a VM, with the path through its template', () => {
    const given = { metadata: { name: 'web' }, spec: { running: 'yes', template: { spec: { volumes: 1 } } } };
    expect(() => parseVirtualMachine(given)).toThrow(
      /VirtualMachine \/web .*spec\.running: .*spec\.template\.spec\.volumes/,
    );
  });

  test.each([undefined, null, 'text', []])('no object at all: %j', (given) => {
    expect(() => parseInstance(given)).toThrow(UnreadableObject);
  });
});
