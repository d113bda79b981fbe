import { describe, expect, test } from '@jest/globals';
import { memoryOverhead } from '../../../../../activities/controller/launch-manifest/index.ts';
import { configured, instance, withDomain } from '../../../../support/instances.ts';

const MIB = 1024 * 1024;
/** Fixed parts, one vCPU, one IO thread, video. */
const BASE = 240 + 8 + 8 + 32;

describe('memory overhead in MiB', () => {
  test.each<[string, object, object, number]>([
    ['a plain guest', {}, {}, BASE],
    ['no graphics', { devices: { autoattachGraphicsDevice: false } }, {}, BASE - 32],
    ['graphics asked for', { devices: { autoattachGraphicsDevice: true } }, {}, BASE],
    ['8 MiB per vCPU', { cpu: { cores: 2, sockets: 3, threads: 2 } }, {}, BASE + 11 * 8],
    ['a topology of sockets alone', { cpu: { sockets: 4 } }, {}, BASE + 3 * 8],
    ['no topology: the CPU limit counts', { resources: { limits: { cpu: '2500m' } } }, {}, BASE + 2 * 8],
    ['no topology, no limit: the request counts', { resources: { requests: { cpu: '2' } } }, {}, BASE + 8],
    ['Arm firmware', {}, { architecture: 'arm64' }, BASE + 128],
    ['a host device', { devices: { hostDevices: [{ name: 'd', deviceName: 'a/b' }] } }, {}, BASE + 1024],
    ['a GPU', { devices: { gpus: [{ name: 'd', deviceName: 'a/b' }] } }, {}, BASE + 1024],
    ['SR-IOV', { devices: { interfaces: [{ name: 'd', sriov: {} }] } }, {}, BASE + 1024],
    ['passt', { devices: { interfaces: [{ name: 'd', passtBinding: {} }] } }, {}, BASE + 250],
    ['SEV', { launchSecurity: { sev: {} } }, {}, BASE + 256],
    ['TDX', { launchSecurity: { tdx: {} } }, {}, BASE],
    ['a TPM', { devices: { tpm: {} } }, {}, BASE + 53],
    ['a TPM that is off', { devices: { tpm: { enabled: false } } }, {}, BASE],
    ['dedicated CPUs', { cpu: { cores: 1, dedicatedCpuPlacement: true } }, {}, BASE + 100],
    ['a reserve', { memory: { reservedOverhead: { addedOverhead: '64Mi' } } }, {}, BASE + 64],
    ['downward metrics', {}, { volumes: [{ name: 'm', downwardMetrics: {} }] }, BASE + 1],
    ['one exec probe', {}, { readinessProbe: { exec: { command: ['true'] } } }, BASE + 110],
    [
      'two exec probes',
      {},
      { readinessProbe: { exec: { command: ['true'] } }, livenessProbe: { exec: { command: ['true'] } } },
      BASE + 120,
    ],
    ['other probes', {}, { readinessProbe: { guestAgentPing: {} }, livenessProbe: { httpGet: {} } }, BASE],
  ])('%s', (_, domain, spec, expected) => {
    expect(memoryOverhead(withDomain(domain, spec), configured())).toBe(expected * MIB);
  });

  test('page tables take a 512th of the requested memory, in whole kilobytes', () => {
    const vmi = withDomain({ resources: { requests: { memory: '128Mi' } } });
    expect(memoryOverhead(vmi, configured()) - BASE * MIB).toBe(Math.trunc(134218000 / 512));
  });

  test('guest memory that is not requested has no page tables', () => {
    expect(memoryOverhead(withDomain({ memory: { guest: '64Gi' } }), configured())).toBe(BASE * MIB);
  });

  test('a guaranteed guest costs as much as a pinned one', () => {
    const list = { cpu: '1', memory: '512M' };
    const vmi = withDomain({ resources: { requests: list, limits: list } });
    expect(memoryOverhead(vmi, configured())).toBe((BASE + 100) * MIB + 1_000_000);
  });

  test('the configured ratio scales everything but passt, in whole kilobytes', () => {
    const config = configured({ additionalGuestMemoryOverheadRatio: '1.5' });
    const total = BASE * MIB;
    const addition = Math.trunc(Math.ceil(total / 1000) / 2) * 1000;
    expect(memoryOverhead(instance(), config)).toBe(total + addition);
    const passt = withDomain({ devices: { interfaces: [{ name: 'd', passtBinding: {} }] } });
    expect(memoryOverhead(passt, config)).toBe(total + addition + 250 * MIB);
  });
});
