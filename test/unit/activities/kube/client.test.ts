import { afterEach, expect, test } from '@jest/globals';
import { kubeClient } from '../../../../activities/kube/client.ts';
import { KubeError } from '../../../../activities/kube/port.ts';
import type { Answer, Asked } from '../../../support/fake-api-server.ts';
import { fakeApiServer, statusAnswer } from '../../../support/fake-api-server.ts';

let close: () => Promise<void> = () => Promise.resolve();
afterEach(() => close());

const clientOn = async (answer: (asked: Asked) => Answer, timeoutMs = 5000) => {
  const server = await fakeApiServer(answer, { timeoutMs });
  close = server.close;
  return { kube: kubeClient(server.rest), asked: server.asked };
};
const name = { namespace: 'team a', name: 'web' };

test('an object that is not there is undefined', async () => {
  const { kube, asked } = await clientOn(() => statusAnswer(404, 'NotFound', 'no'));
  await expect(kube.get('Pod', name)).resolves.toBeUndefined();
  expect(asked[0]).toMatchObject({ method: 'GET', path: '/api/v1/namespaces/team%20a/pods/web' });
});

test('a refusal carries status, reason and message', async () => {
  const { kube } = await clientOn(() => statusAnswer(403, 'Forbidden', 'exceeded quota'));
  const refused = kube.create('Pod', { metadata: { ...name } });
  await expect(refused).rejects.toBeInstanceOf(KubeError);
  await expect(refused).rejects.toMatchObject({
    status: 403,
    reason: 'Forbidden',
    message: expect.stringContaining('exceeded quota'),
  });
});

test('an answer that is no Status is shown as it is', async () => {
  const { kube } = await clientOn(() => (response) => {
    response.socket?.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 9\r\n\r\nproxy sad');
  });
  await expect(kube.get('Pod', name)).rejects.toBeInstanceOf(KubeError);
});

test('no answer is an error of status 0, after the time-out at the latest', async () => {
  const { kube } = await clientOn(() => () => undefined, 100);
  await expect(kube.get('Pod', name)).rejects.toMatchObject({ status: 0, reason: 'Unreachable' });
});

test('delete: uid as precondition; gone or another uid is success', async () => {
  const { kube, asked } = await clientOn(() => statusAnswer(409, 'Conflict', 'Precondition failed: UID'));
  await expect(kube.remove('Pod', name, { uid: 'u1', gracePeriodSeconds: 5 })).resolves.toBeUndefined();
  expect(asked[0]).toMatchObject({ method: 'DELETE', body: { preconditions: { uid: 'u1' }, gracePeriodSeconds: 5 } });
});

test('times stay strings and unknown fields stay', async () => {
  const pod = { kind: 'Pod', metadata: { ...name, creationTimestamp: '2026-01-01T00:00:00Z' }, future: { field: 1 } };
  const { kube } = await clientOn(() => ({ status: 200, body: pod }));
  await expect(kube.get('Pod', name)).resolves.toEqual(pod);
});

test('patches say what they are, and may go to the status', async () => {
  const { kube, asked } = await clientOn(() => ({ status: 200, body: {} }));
  await kube.mergePatch('VirtualMachine', name, { a: null }, { subresource: 'status' });
  await kube.jsonPatch('VirtualMachine', name, [{ op: 'test', path: '/a', value: 1 }]);
  const path = '/apis/kubevirt.io/v1/namespaces/team%20a/virtualmachines/web';
  expect(asked).toMatchObject([
    { method: 'PATCH', path: `${path}/status`, body: { a: null } },
    { method: 'PATCH', path, body: [{ op: 'test' }] },
  ]);
});

test('an event that was said already is said', async () => {
  const { kube, asked } = await clientOn(() => statusAnswer(409, 'AlreadyExists', 'there'));
  const involved = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', namespace: 'n', name: 'v', uid: 'u' };
  await kube.event({ involved, type: 'Normal', reason: 'R', message: 'm', component: 'c' });
  expect(asked).toMatchObject([
    { method: 'POST', path: '/api/v1/namespaces/n/events', body: { involvedObject: involved } },
  ]);
});

test('a path that the server does not serve proves nothing about an object', async () => {
  const { kube } = await clientOn(() => ({ status: 404, body: {} }));
  await expect(kube.get('Pod', name)).rejects.toMatchObject({ status: 404 });
});
