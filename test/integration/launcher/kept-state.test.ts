import { afterEach, expect, jest, test } from '@jest/globals';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentConnected, disposeAll, startPod, syncRequest, track } from './support.ts';

jest.setTimeout(300_000);
afterEach(disposeAll);

const FIRMWARE = { uuid: '4dd2a1f0-86b8-4a3e-9a0e-6c2a3f4b5d6f', bootloader: { efi: { secureBoot: false } } };
const KEPT = {
  firmware: { ...FIRMWARE, bootloader: { efi: { secureBoot: false, persistent: true } } },
  devices: { tpm: { persistent: true } },
};

/** In place of the claim. */
const newClaim = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'vf-state-'));
  chmodSync(directory, 0o777);
  track({ dispose: () => Promise.resolve(rmSync(directory, { recursive: true, force: true })) });
  return directory;
};

test('what TPM and EFI firmware keep is there again in the next Pod', async () => {
  const kept = newClaim();
  const vmi = { namespace: 'default', name: 'guest', uid: '0b7e2a4e-95b0-4a6e-8a5f-3d7a3f8f1c11' };
  const run = async (): Promise<{ nvram: number; certificates: number; tpm: string[] }> => {
    const { pod, client } = await startPod({ kept, vmi });
    const { reports } = client.watch();
    await client.report('SyncVMI', syncRequest(pod, KEPT));
    await agentConnected(reports);
    await pod.dispose();
    return {
      // Files of their own would be other ones.
      nvram: statSync(join(kept, 'nvram', 'guest_VARS.fd')).ino,
      certificates: statSync(join(kept, 'swtpm-localca', 'issuercert.pem')).ino,
      tpm: readdirSync(join(kept, 'swtpm', KEPT.firmware.uuid, 'tpm2')),
    };
  };
  const first = await run();
  expect(first.tpm).toContain('tpm2-00.permall');
  expect(await run()).toEqual(first);
});

test('a guest that keeps nothing boots from EFI with a TPM, and leaves nothing', async () => {
  const { pod, client } = await startPod();
  const { reports } = client.watch();
  await client.report('SyncVMI', syncRequest(pod, { firmware: FIRMWARE, devices: { tpm: {} } }));
  await agentConnected(reports);
  expect(pod.processes('/usr/bin/swtpm')).toHaveLength(1);
});

test('secure boot has the firmware that keeps its variables from the guest', async () => {
  const { pod, client } = await startPod();
  const firmware = { ...FIRMWARE, bootloader: { efi: { secureBoot: true } } };
  const report = await client.report('SyncVMI', syncRequest(pod, { firmware, features: { smm: {} } }));
  expect(report.state).toBe('running');
  const [qemu] = pod.processes('/usr/bin/qemu-system');
  const command = readFileSync(`/proc/${qemu}/cmdline`, 'utf8');
  for (const part of ['OVMF_CODE_4M.ms.fd', 'smm=on', 'cfi.pflash01']) expect(command).toContain(part);
});
