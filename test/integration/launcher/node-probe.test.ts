import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { readCapabilities } from '../../../workers/node/labels/capabilities.ts';
import { nodeLabels } from '../../../workers/node/labels/labels.ts';

const NOBODY = '65534';
const probe = fileURLToPath(new URL('../../../launcher/node-probe/probe.sh', import.meta.url));
const directory = await mkdtemp(join(tmpdir(), 'probe-'));
afterAll(() => rm(directory, { recursive: true }));

test('the probe finds out what libvirt and QEMU of this machine can do, and whether KVM boots a guest', async () => {
  await execa(probe, [directory], { env: { PROBE_UID: NOBODY } });
  const found = await readCapabilities(directory);
  expect(found.kvm.detail).toMatch(/^(usable|there is no \/dev\/kvm|\/dev\/kvm boots no guest.*)$/);
  expect(found.models.length).toBeGreaterThan(5);
  expect(found.features).toContain('sse2');
  expect(found.hostModel?.name).toMatch(/\w/);
  const labels = nodeLabels(found, { obsoleteCPUModels: {} });
  expect(labels[`host-model-cpu.node.kubevirt.io/${found.hostModel?.name}`]).toBe('true');
  expect(labels['kubevirt.io/kvm']).toBe(String(found.kvm.usable));
}, 90_000);
