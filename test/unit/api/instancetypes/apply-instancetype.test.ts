import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withTypes } from '../../../../api/instancetypes/index.ts';
import { short } from '../validation/told.ts';
import { instancetype, vm } from './samples.ts';

const applied = (type: Parameters<typeof instancetype>[0], template: object = {}) =>
  withTypes(vm(template), { instancetype: instancetype(type) }).applied?.spec.template;

const NUMA = { guestMappingPassthrough: {} };
const GPU = [{ name: 'gpu', deviceName: 'nvidia.com/A10' }];
const HOST_DEVICE = [{ name: 'nic', deviceName: 'intel.com/qat' }];

test.each([
  ['vCPUs and memory', {}, { domain: { cpu: { sockets: 2, cores: 1, threads: 1 }, memory: { guest: '1Gi' } } }],
  ['a CPU model', { cpu: { model: 'Haswell' } }, { domain: { cpu: { model: 'Haswell' } } }],
  [
    'dedicated CPUs',
    { cpu: { dedicatedCPUPlacement: true, isolateEmulatorThread: true, numa: NUMA, realtime: { mask: '0' } } },
    {
      domain: {
        cpu: { dedicatedCpuPlacement: true, isolateEmulatorThread: true, numa: NUMA, realtime: { mask: '0' } },
      },
    },
  ],
  ['sockets to plug', { cpu: { maxSockets: 8 } }, { domain: { cpu: { maxSockets: 8 } } }],
  [
    'memory to plug, in huge pages',
    { memory: { maxGuest: '2Gi', hugepages: { pageSize: '2Mi' } } },
    { domain: { memory: { guest: '1Gi', maxGuest: '2Gi', hugepages: { pageSize: '2Mi' } } } },
  ],
  [
    'memory that is overcommitted',
    { memory: { overcommitPercent: 25 } },
    { domain: { resources: { requests: { memory: '768Mi' } } } },
  ],
  [
    'IO threads',
    { ioThreadsPolicy: 'shared', ioThreads: { supplementalPoolThreadCount: 2 } },
    { domain: { ioThreadsPolicy: 'shared', ioThreads: { supplementalPoolThreadCount: 2 } } },
  ],
  ['launch security', { launchSecurity: { sev: {} } }, { domain: { launchSecurity: { sev: {} } } }],
  [
    'devices of the host',
    { gpus: GPU, hostDevices: HOST_DEVICE },
    { domain: { devices: { gpus: GPU, hostDevices: HOST_DEVICE } } },
  ],
  [
    'where it runs',
    { nodeSelector: { disk: 'ssd' }, schedulerName: 'mine' },
    { nodeSelector: { disk: 'ssd' }, schedulerName: 'mine' },
  ],
])('an instance type decides %s', (_, type, spec) => {
  expect(applied(type)?.spec).toMatchObject(spec);
});

test('annotations of the instance type are beside those of the template', () => {
  const type = { instancetype: instancetype({ annotations: { tier: 'gold', team: 'a' } }) };
  expect(withTypes(vm({}, { annotations: { team: 'a', own: '1' } }), type).applied?.spec.template.metadata).toEqual({
    annotations: { tier: 'gold', team: 'a', own: '1' },
  });
  expect(short(withTypes(vm({}, { annotations: { team: 'b' } }), type).causes)).toEqual(['Invalid annotations.team']);
});

const everything = {
  nodeSelector: { a: 'b' },
  schedulerName: 'mine',
  cpu: { model: 'Haswell', dedicatedCPUPlacement: true, isolateEmulatorThread: true, numa: NUMA, realtime: {} },
  memory: { maxGuest: '2Gi', hugepages: { pageSize: '2Mi' } },
  ioThreadsPolicy: 'auto',
  ioThreads: { supplementalPoolThreadCount: 2 },
  launchSecurity: { sev: {} },
  gpus: GPU,
  hostDevices: HOST_DEVICE,
};

test.each([
  ['nodeSelector', { nodeSelector: { a: 'b' } }],
  ['schedulerName', { schedulerName: 'other' }],
  ['domain.resources.requests.cpu', { domain: { resources: { requests: { cpu: '1' } } } }],
  ['domain.resources.limits.cpu', { domain: { resources: { limits: { cpu: '1' } } } }],
  ['domain.cpu.sockets', { domain: { cpu: { sockets: 1 } } }],
  ['domain.cpu.cores', { domain: { cpu: { cores: 1 } } }],
  ['domain.cpu.threads', { domain: { cpu: { threads: 1 } } }],
  ['domain.cpu.model', { domain: { cpu: { model: 'host-model' } } }],
  ['domain.cpu.dedicatedCPUPlacement', { domain: { cpu: { dedicatedCpuPlacement: true } } }],
  ['domain.cpu.isolateEmulatorThread', { domain: { cpu: { isolateEmulatorThread: true } } }],
  ['domain.cpu.numa', { domain: { cpu: { numa: {} } } }],
  ['domain.cpu.realtime', { domain: { cpu: { realtime: {} } } }],
  ['domain.memory.guest', { domain: { memory: { guest: '1Gi' } } }],
  ['domain.memory.hugepages', { domain: { memory: { hugepages: { pageSize: '1Gi' } } } }],
  ['domain.memory.maxGuest', { domain: { memory: { maxGuest: '3Gi' } } }],
  ['domain.resources.requests.memory', { domain: { resources: { requests: { memory: '1Gi' } } } }],
  ['domain.resources.limits.memory', { domain: { resources: { limits: { memory: '1Gi' } } } }],
  ['domain.ioThreads.supplementalPoolThreadCount', { domain: { ioThreads: { supplementalPoolThreadCount: 4 } } }],
  ['domain.ioThreadsPolicy', { domain: { ioThreadsPolicy: 'shared' } }],
  ['domain.launchSecurity', { domain: { launchSecurity: { tdx: {} } } }],
  ['domain.devices.gpus', { domain: { devices: { gpus: GPU } } }],
  ['domain.devices.hostDevices', { domain: { devices: { hostDevices: HOST_DEVICE } } }],
])('what both say is a conflict: %s', (path, template) => {
  const { applied, causes } = withTypes(vm(template), { instancetype: instancetype(everything) });
  expect(applied).toBeUndefined();
  expect(short(causes)).toEqual([`Invalid spec.template.spec.${path}`]);
});

test('all conflicts come at once', () => {
  const template = { schedulerName: 'x', domain: { cpu: { cores: 2 }, memory: { guest: '1Gi' } } };
  expect(withTypes(vm(template), { instancetype: instancetype(everything) }).causes).toHaveLength(3);
});

test('what an instance type does not decide is free, and so is what says nothing', () => {
  const template = {
    nodeSelector: { a: 'b' },
    schedulerName: '',
    domain: {
      cpu: { sockets: 0, features: [{ name: 'vmx' }], maxSockets: 4 },
      memory: { maxGuest: '4Gi' },
      devices: { gpus: [] },
    },
  };
  expect(applied({ cpu: { maxSockets: 8 }, schedulerName: 'mine', gpus: GPU }, template)?.spec).toMatchObject({
    nodeSelector: { a: 'b' },
    schedulerName: 'mine',
    domain: {
      cpu: { sockets: 2, features: [{ name: 'vmx' }], maxSockets: 4 },
      memory: { guest: '1Gi', maxGuest: '4Gi' },
      devices: { gpus: GPU },
    },
  });
});

/** What a spec says, as [path, value]; lists and what is empty, 0 or false left out. */
const said = (value: unknown, path = ''): [string, unknown][] => {
  if (Array.isArray(value) || !value) return [];
  return typeof value === 'object'
    ? Object.entries(value).flatMap(([key, inner]) => said(inner, `${path}.${key}`))
    : [[path, value]];
};

test('what a VM says stays, or is told as a conflict', () => {
  const some = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { requiredKeys: [] });
  const selector = fc.constantFrom({ disk: 'ssd' }, { disk: 'hdd' });
  const count = fc.nat(3);
  const size = fc.constantFrom('1Gi', '2Gi');
  const domain = some({
    cpu: some({
      sockets: count,
      maxSockets: count,
      model: fc.constantFrom('', 'Haswell'),
      isolateEmulatorThread: fc.boolean(),
    }),
    memory: some({ maxGuest: size, hugepages: fc.constant({ pageSize: '2Mi' }) }),
    resources: some({ requests: some({ cpu: fc.constant('1') }), limits: some({ memory: size }) }),
    ioThreadsPolicy: fc.constantFrom('auto', 'shared'),
  });
  const templates = some({
    nodeSelector: selector,
    schedulerName: fc.constantFrom('', 'mine'),
    hostname: fc.constant('web'),
  });
  const types = some({
    nodeSelector: selector,
    schedulerName: fc.constantFrom('', 'theirs'),
    ioThreadsPolicy: fc.constant('auto'),
    cpu: some({ maxSockets: count, model: fc.constant('Nehalem'), isolateEmulatorThread: fc.boolean() }),
    memory: some({ maxGuest: size, overcommitPercent: count }),
  });
  fc.assert(
    fc.property(templates, domain, types, (rest, ofDomain, type) => {
      const template = { ...rest, domain: { devices: {}, ...ofDomain } };
      const { applied, causes } = withTypes(vm(template), { instancetype: instancetype(type) });
      if (applied === undefined) return expect(causes.length).toBeGreaterThan(0);
      const result = new Map(said(applied.spec.template.spec));
      for (const [path, value] of said(template)) expect([path, result.get(path)]).toEqual([path, value]);
      expect(result.get('.domain.memory.guest')).toBe('1Gi');
    }),
  );
});
