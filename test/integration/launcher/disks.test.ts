import { afterEach, expect, jest, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  SERIAL_LOG,
  cloudInitImage,
  containerDiskImage,
  emptyDiskImage,
  overlayImage,
} from '../../../api/launcher/paths.ts';
import { testGuestDisk } from '../../support/test-guest.ts';
import { until } from '../../support/until.ts';
import { agentConnected, disposeAll, startPod, syncRequest } from './support.ts';

jest.setTimeout(180_000);
afterEach(disposeAll);

const SCRIPT = `#!/bin/sh
ls /data > /dev/console
echo written > /data/changed && echo written > /mnt/vdb/file && sync && echo "disks: ok" > /dev/console
`;

test('a guest sees its container disk through an overlay, its empty disk, and what cloud-init tells it', async () => {
  const { pod, client } = await startPod();
  const { reports } = client.watch();
  const image = join(pod.volume('containerDisks'), basename(containerDiskImage('root')));
  copyFileSync(testGuestDisk(), image);
  const before = readFileSync(image);
  await client.report(
    'SyncVMI',
    syncRequest(pod, {
      volumes: [
        { name: 'root', containerDisk: { image: 'guest' } },
        { name: 'scratch', emptyDisk: { capacity: '16Mi' } },
        { name: 'seed', cloudInitNoCloud: { userDataBase64: Buffer.from(SCRIPT).toString('base64') } },
      ],
    }),
  );
  const log = join(pod.volume('libvirt'), basename(SERIAL_LOG));
  await until('the script has run', () => existsSync(log) && readFileSync(log, 'utf8').includes('disks: ok'), {
    timeoutMs: 60_000,
  });
  expect(readFileSync(log, 'utf8')).toContain('virtflow-container-disk');
  await agentConnected(reports);
  await until('the host name', () => reports.at(-1)?.agent.hostname === pod.vmi.name);

  expect(readFileSync(image).equals(before)).toBe(true);
  expect(existsSync(join(pod.volume('ephemeral'), basename(overlayImage('root'))))).toBe(true);
  expect(existsSync(join(pod.volume('ephemeral'), basename(emptyDiskImage('scratch'))))).toBe(true);
  expect(existsSync(join(pod.volume('private'), basename(cloudInitImage('seed'))))).toBe(true);
});

test('disks that cannot be made are refused by the name of their field or image, and a better request is accepted', async () => {
  const { pod, client } = await startPod();
  const seed = (userDataBase64: string): object =>
    syncRequest(pod, { volumes: [{ name: 'seed', cloudInitNoCloud: { userDataBase64 } }] });
  expect(await client.refusal('SyncVMI', seed('%%'))).toMatchObject({
    code: status.INVALID_ARGUMENT,
    details: 'spec.volumes[seed].cloudInitNoCloud.userDataBase64: is not base64',
  });
  const missing = syncRequest(pod, { volumes: [{ name: 'root', containerDisk: { image: 'guest' } }] });
  expect(await client.refusal('SyncVMI', missing)).toMatchObject({
    code: status.ABORTED,
    details: `volume root: ${containerDiskImage('root')} is not there yet`,
  });
  expect(await client.report('SyncVMI', seed('aGk='))).toMatchObject({ state: 'running' });
});
