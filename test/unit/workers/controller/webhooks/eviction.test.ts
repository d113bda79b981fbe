import { expect, test } from '@jest/globals';
import type { KubePort } from '../../../../../activities/kube/port.ts';
import { judgeEviction } from '../../../../../workers/controller/webhooks/eviction.ts';
import type { AdmissionRequest } from '../../../../../workers/controller/webhooks/review.ts';
import { ports } from './ports.ts';

const NAME = { namespace: 'shop', name: 'virt-launcher-web-1' };
const pod = {
  metadata: {
    ...{ ...NAME, labels: { 'kubevirt.io': 'virt-launcher', 'kubevirt.io/created-by': 'i1' } },
    annotations: { 'kubevirt.io/domain': 'web' },
  },
  spec: { nodeName: 'a', containers: [] },
};
const vmi = (annotations?: Record<string, string>) => ({
  metadata: { namespace: 'shop', name: 'web', uid: 'i1', ...(annotations === undefined ? {} : { annotations }) },
  spec: { evictionStrategy: 'LiveMigrate', domain: { devices: {} } },
  status: { phase: 'Running', nodeName: 'a', conditions: [{ type: 'LiveMigratable', status: 'True' }] },
});

/** What an eviction by this user writes to the VMI. */
const written = async (username: string, annotations?: Record<string, string>): Promise<unknown[]> => {
  const patches: unknown[] = [];
  const kube = {
    get: (kind: string) => Promise.resolve(kind === 'Pod' ? pod : vmi(annotations)),
    mergePatch: (_kind: string, _name: object, patch: unknown) => Promise.resolve(patches.push(patch)),
  };
  const request = { ...NAME, operation: 'CREATE', userInfo: { username } } as AdmissionRequest;
  expect(await judgeEviction({ ...ports(), kube: kube as unknown as KubePort })(request)).toMatchObject({
    allowed: false,
    status: { code: 429 },
  });
  return patches;
};

const asks = { status: { evacuationNodeName: 'a' } };
const DESCHEDULER = 'system:serviceaccount:kube-system:descheduler-sa';

test.each<[string, string, Record<string, string> | undefined, object]>([
  ['of whoever drains the node asks only', 'admin', undefined, { metadata: { uid: 'i1' } }],
  [
    'of a descheduler is known for one',
    DESCHEDULER,
    undefined,
    { metadata: { uid: 'i1', annotations: { 'kubevirt.io/eviction-source': 'descheduler' } } },
  ],
  [
    'by a person takes that back',
    'admin',
    { 'kubevirt.io/eviction-source': 'descheduler' },
    { metadata: { uid: 'i1', annotations: { 'kubevirt.io/eviction-source': null } } },
  ],
  ['of somebody who is only called so is a person’s', 'descheduler', undefined, { metadata: { uid: 'i1' } }],
])('the eviction %s', async (_, username, annotations, patch) => {
  expect(await written(username, annotations)).toEqual([{ ...patch, ...asks }]);
});
