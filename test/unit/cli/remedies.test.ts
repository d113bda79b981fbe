import { expect, test } from '@jest/globals';
import { FAILURES } from '../../../api/contract/failures.ts';
import type { FailureType } from '../../../api/contract/failures.ts';
import { remedyFor } from '../../../cli/remedies.ts';

const on = { namespace: 'prod', name: 'web' };

test.each([...(Object.keys(FAILURES) as FailureType[]), 'Unknown' as const])(
  'there is something to do about %s',
  (type) => {
    const remedy = remedyFor(type, on);
    expect(remedy.length).toBeGreaterThan(20);
    expect(remedy).not.toMatch(/\.$|undefined/);
  },
);

test.each<[FailureType, string, RegExp]>([
  [
    'NotMigratable',
    'no node other than node-b has the labels zone=mars. Label one',
    /^virtflow migrate web -n prod again/,
  ],
  [
    'NotMigratable',
    "no node other than a has the labels x=y. Label one, or change the VM's nodeSelector",
    /label node/,
  ],
  ['NotMigratable', 'it runs on node a, and no other node is labelled x', /second node/],
  ['NotMigratable', 'claim rwo has access mode ReadWriteOnce, a migration needs ReadWriteMany', /copy the data/],
  ['NotMigratable', 'web did not exist when its migration began', /^start it: virtflow start web/],
  ['NotMigratable', 'it does not run (its phase is Pending)', /^wait until it runs/],
  [
    'NotMigratable',
    'InterfaceNotLiveMigratable: interface a keeps no address of the pod network on another node',
    /^change the field/,
  ],
  ['NotMigratable', 'its guest is paused by an I/O error', /cause of the pause/],
  ['NotMigratable', 'an I/O error paused it (vda: no space)', /cause of the pause/],
  ['NotMigratable', 'it holds no run token', /remove what the message names/],
  [
    'PodNotReady',
    'Pod virt-a-1 cannot be scheduled (Unschedulable): 0/2',
    /^make room.*describe pod -n prod virt-a-1\)$/,
  ],
  [
    'PodNotReady',
    'container x of Pod virt-a-1 cannot start (ErrImagePull): y',
    /^correct the image's name.*virt-a-1\)$/,
  ],
])('of %s: %s', (type, message, remedy) => {
  expect(remedyFor(type, on, message)).toMatch(remedy);
});

test('only a field that is fixed when the VM starts takes a new start', () => {
  expect(
    remedyFor('NotMigratable', on, 'DisksNotLiveMigratable: claim a, a migration needs ReadWriteMany'),
  ).not.toMatch(/restart/);
  expect(remedyFor('NotMigratable', on, 'no node other than a has the labels b=c')).not.toMatch(/restart/);
  expect(remedyFor('NotMigratable', on, 'HostDeviceNotLiveMigratable: devices stay')).toMatch(/virtflow restart web/);
});
