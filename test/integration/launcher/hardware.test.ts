import { afterEach, expect, jest, test } from '@jest/globals';
import { disposeAll, startPod, syncRequest } from './support.ts';

jest.setTimeout(240_000);
afterEach(disposeAll);

test('a report tells what libvirt made of the domain: machine, memory, disks as the guest knows them', async () => {
  const { pod, client } = await startPod();
  expect(await client.report('GetDomain')).not.toHaveProperty('hardware');
  const volumes = [
    { name: 'data', emptyDisk: { capacity: '16Mi' } },
    { name: 'seed', cloudInitNoCloud: { userData: '#cloud-config\n' } },
  ];
  const { hardware } = await client.report('SyncVMI', syncRequest(pod, { volumes }));
  expect(hardware).toMatchObject({
    machine: expect.stringMatching(/^pc-q35-\d/),
    memoryBytes: expect.any(Number),
    disks: { data: { target: 'vda' }, seed: { target: 'vdb', size: expect.any(Number) } },
    selinuxContext: expect.any(String),
  });
  expect(hardware?.disks?.['data']).not.toHaveProperty('size');
});
