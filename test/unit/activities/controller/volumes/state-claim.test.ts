import { expect, test } from '@jest/globals';
import { ensureStateClaim, stateClaim } from '../../../../../activities/controller/volumes/state-claim.ts';
import { KubeError } from '../../../../../activities/kube/port.ts';
import type { PersistentVolumeClaim } from '../../../../../api/kubernetes/types.ts';
import { configured, withDomain } from '../../../../support/instances.ts';

const keeping = withDomain({ devices: { tpm: { persistent: true } } });

test('the claim goes with the VM, or with a VMI that has none', () => {
  const ownerOf = (vmi: typeof keeping) => stateClaim(vmi, {}).metadata?.ownerReferences;
  expect(ownerOf(keeping)).toMatchObject([{ kind: 'VirtualMachineInstance', name: 'web', controller: true }]);
  const vm = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'web', uid: 'vm-uid', controller: true };
  expect(ownerOf({ ...keeping, metadata: { ...keeping.metadata, ownerReferences: [vm] } })).toEqual([vm]);
});

test('it has the class that the configuration names', () => {
  expect(stateClaim(keeping, {})).toMatchObject({
    metadata: { name: 'persistent-state-for-web', labels: { 'persistent-state-for': 'web' } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } },
  });
  expect(stateClaim(keeping, {}).spec).not.toHaveProperty('storageClassName');
  const { vmStateStorageClass = '' } = configured({ vmStateStorageClass: 'fast' });
  expect(stateClaim(keeping, { vmStateStorageClass }).spec?.storageClassName).toBe('fast');
});

const ensure = async (vmi: typeof keeping, there?: PersistentVolumeClaim, fails?: Error): Promise<string[]> => {
  const created: string[] = [];
  const kube = {
    get: () => Promise.resolve(there as never),
    create: (_: string, object: { metadata?: { name?: string } }) =>
      fails === undefined ? Promise.resolve(created.push(object.metadata?.name ?? '') as never) : Promise.reject(fails),
  };
  await ensureStateClaim(kube, vmi, configured());
  return created;
};

test('it is made once, and only for who keeps something', async () => {
  expect(await ensure(keeping)).toEqual(['persistent-state-for-web']);
  expect(await ensure(keeping, { metadata: { name: 'persistent-state-for-web' } })).toEqual([]);
  expect(await ensure(keeping, undefined, new KubeError(409, 'AlreadyExists', 'somebody was faster'))).toEqual([]);
  await expect(ensure(keeping, undefined, new KubeError(403, 'Forbidden', 'a quota'))).rejects.toThrow('a quota');
  for (const devices of [{}, { tpm: {} }, { tpm: { persistent: true, enabled: false } }])
    expect(await ensure(withDomain({ devices }))).toEqual([]);
});
