import { expect, test } from '@jest/globals';
import { cpuRules } from '../../../../api/validation/cpu.ts';
import { ofDomain } from './told.ts';

const CPU = 'spec.domain.cpu';
const DEDICATED = `Invalid ${CPU}.dedicatedCpuPlacement`;
const REQUEST = 'Invalid spec.domain.resources.requests.cpu';
const LIMIT = 'Invalid spec.domain.resources.limits.cpu';
const cpus = (requests: string | undefined, limits?: string): object => ({
  resources: { ...(requests ? { requests: { cpu: requests } } : {}), ...(limits ? { limits: { cpu: limits } } : {}) },
});
const pinned = (cpu: object, more: object = {}): object => ({
  cpu: { dedicatedCpuPlacement: true, ...cpu },
  memory: { guest: '1Gi' },
  ...more,
});

test.each<[string, object, string[]]>([
  ['a fraction', cpus('500m', '1500m'), []],
  ['a negative request', cpus('-1'), [REQUEST]],
  ['a negative limit', cpus(undefined, '-1'), [LIMIT]],
  ['a request above its limit', cpus('2', '1500m'), [REQUEST]],
  [
    'an unknown policy',
    { cpu: { features: [{ name: 'a' }, { name: 'b', policy: 'maybe' }] } },
    [`NotSupported ${CPU}.features[1].policy`],
  ],
  ['more sockets than can be', { cpu: { sockets: 3, maxSockets: 2 } }, [`Invalid ${CPU}.sockets`]],
  [
    'an emulator’s CPU without pinning',
    { cpu: { isolateEmulatorThread: true } },
    [`Invalid ${CPU}.isolateEmulatorThread`],
  ],
  ['pinned', pinned({ cores: 2 }), []],
  ['pinned, nothing said', pinned({}), [DEDICATED]],
  ['pinned, a fraction requested', pinned({}, cpus('1500m')), [REQUEST]],
  ['pinned, a fraction as limit', pinned({}, cpus(undefined, '1500m')), [LIMIT]],
  ['pinned, request and limit differ', pinned({}, cpus('2', '3')), [DEDICATED]],
  ['pinned, topology and request differ', pinned({ cores: 2, threads: 2 }, cpus('2')), [DEDICATED]],
  ['pinned, topology and request agree', pinned({ cores: 2, threads: 2 }, cpus('4')), []],
  ['pinned, three threads', pinned({ threads: 3 }), [DEDICATED]],
  ['pinned, no memory', pinned({ cores: 1 }, { memory: undefined }), ['Invalid spec.domain.resources.limits.memory']],
  [
    'pinned, memory of two sizes',
    pinned({ cores: 1 }, { resources: { requests: { memory: '1Gi' }, limits: { memory: '2Gi' } } }),
    ['Invalid spec.domain.resources.requests.memory'],
  ],
  [
    'the host’s cells alone',
    { cpu: { numa: { guestMappingPassthrough: {} } } },
    [`Invalid ${CPU}.numa.guestMappingPassthrough`, `Invalid ${CPU}.numa.guestMappingPassthrough`],
  ],
  [
    'real time alone',
    { cpu: { realtime: {} } },
    [`Required ${CPU}.dedicatedCpuPlacement`, `Required ${CPU}.numa.guestMappingPassthrough`],
  ],
])('%s', (_, domain, expected) => {
  expect(ofDomain(cpuRules, domain)).toEqual(expected);
});

test('arm64 pins one thread a core', () => {
  expect(ofDomain(cpuRules, pinned({ cores: 1, threads: 2 }), { architecture: 'arm64' })).toEqual([
    'Invalid spec.architecture',
  ]);
});
