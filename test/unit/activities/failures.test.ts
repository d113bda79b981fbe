import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { expect, test } from '@jest/globals';
import { failure, toFailure, withFailures } from '../../../activities/failures.ts';
import { KubeError } from '../../../activities/kube/port.ts';

const quota = 'pods "p" is forbidden: exceeded quota: small, requested: limits.memory=2Gi, used: 0, limited: 1Gi';
const security = 'pods "p" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true';
const rbac = 'pods is forbidden: User "system:serviceaccount:v:c" cannot create resource "pods" in API group ""';
const webhook = 'admission webhook "policy.example.com" denied the request: no VMs on Fridays';

test.each<[string, KubeError, string, boolean, RegExp]>([
  ['a quota', new KubeError(403, 'Forbidden', quota), 'QuotaExceeded', false, /Raise the ResourceQuota/],
  [
    'PodSecurity',
    new KubeError(403, 'Forbidden', security),
    'Forbidden',
    true,
    /label the namespace pod-security.kubernetes.io\/enforce=privileged/,
  ],
  ['missing permission', new KubeError(403, 'Forbidden', rbac), 'NotAuthorized', false, /apply deploy\//],
  ['a webhook that says 400', new KubeError(400, 'BadRequest', webhook), 'Forbidden', true, /no VMs on Fridays/],
  ['a name that is gone', new KubeError(404, 'NotFound', 'pods "p" not found'), 'ObjectGone', true, /not found/],
  [
    'an invalid object',
    new KubeError(422, 'Invalid', 'spec.containers: Required value'),
    'InvalidSpec',
    true,
    /spec.containers/,
  ],
  ['a conflict', new KubeError(409, 'Conflict', 'the object has been modified'), 'Unknown', false, /modified/],
  ['no answer', new KubeError(0, 'Unreachable', 'refused'), 'Unknown', false, /refused/],
  ['a server in trouble', new KubeError(503, 'ServiceUnavailable', 'etcd'), 'Unknown', false, /etcd/],
])('%s becomes its failure', (_, error, type, nonRetryable, message) => {
  const translated = toFailure(error, 'ensureLauncherPod');
  expect(translated).toBeInstanceOf(ApplicationFailure);
  expect(translated).toMatchObject({ type, nonRetryable, cause: error });
  expect(translated.message).toMatch(message);
  expect(translated.message).toMatch(/^ensureLauncherPod: /);
});

test('a surprise stays retryable and keeps its cause', () => {
  const bug = new TypeError('x is undefined');
  expect(toFailure(bug, 'observePod')).toMatchObject({ type: 'Unknown', nonRetryable: false, cause: bug });
});

test("Temporal's own failures pass unchanged", () => {
  const cancelled = new CancelledFailure('stop');
  const ours = failure('TokenHeld', 'held');
  expect(toFailure(cancelled, 'x')).toBe(cancelled);
  expect(toFailure(ours, 'x')).toBe(ours);
});

test('withFailures translates what an activity throws and leaves its result alone', async () => {
  const activities = withFailures({
    good: (input: number) => Promise.resolve(input + 1),
    bad: (_: number): Promise<void> => Promise.reject(new KubeError(404, 'NotFound', 'gone')),
  });
  await expect(activities.good(1)).resolves.toBe(2);
  await expect(activities.bad(1)).rejects.toMatchObject({ type: 'ObjectGone' });
});
