import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { admission } from '../../../../../workers/controller/webhooks/index.ts';
import { instance } from '../../../../support/instances.ts';
import { ports } from './ports.ts';

const unreachable = (): Promise<never> => Promise.reject(new Error('the API server did not answer'));
const kube = { get: unreachable, list: unreachable, mergePatch: unreachable };
const register = new Registry();
const mounts = admission({ ...ports(), kube }, { log: pino({ level: 'silent' }), register });
const server = createServer((request, response) => mounts['/validate']?.request(request, response));
let url: string;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

const ask = async (path: string, body: unknown, method = 'POST'): Promise<{ status: number; body: unknown }> => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${url}${path}`, method === 'GET' ? {} : { method, body: text });
  return { status: response.status, body: await response.json() };
};

const review = (object: object, request: object = {}): object => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'abc',
    kind: { group: 'kubevirt.io', version: 'v1', kind: 'VirtualMachineInstance' },
    ...{ name: 'web', namespace: 'shop', operation: 'CREATE', userInfo: { username: 'jane' }, object, ...request },
  },
});
const PATH = '/validate/virtualmachineinstances';

test('a refusal is a Status of 422 with every cause: type, field and message', async () => {
  const { status, body } = await ask(PATH, review(instance({ terminationGracePeriodSeconds: -1 })));
  expect(status).toBe(200);
  expect(body).toEqual({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid: 'abc',
      allowed: false,
      status: {
        code: 422,
        reason: 'Invalid',
        message: expect.stringMatching(/spec\.terminationGracePeriodSeconds: .*; spec\.domain\.memory\.guest: /),
        details: {
          ...{ group: 'kubevirt.io', kind: 'VirtualMachineInstance', name: 'web' },
          causes: [
            { reason: 'FieldValueInvalid', field: 'spec.terminationGracePeriodSeconds', message: expect.any(String) },
            { reason: 'FieldValueRequired', field: 'spec.domain.memory.guest', message: expect.any(String) },
          ],
        },
      },
    },
  });
});

test('what is taken but cannot run yet is told as a warning', async () => {
  const devices = { clientPassthrough: {}, interfaces: [{ name: 'default', masquerade: {} }] };
  const spec = { domain: { memory: { guest: '64Mi' }, devices }, networks: [{ name: 'default', pod: {} }] };
  const { body } = await ask(PATH, review(instance(spec)));
  expect(body).toMatchObject({
    response: { allowed: true, warnings: ['spec.domain.devices.clientPassthrough: not supported yet'] },
  });
});

test.each([
  ['no JSON', 'x'],
  ['no review', {}],
  ['a review without request', { kind: 'AdmissionReview' }],
  ['a review of nothing', { kind: 'AdmissionReview', request: { uid: '' } }],
])('%s is a bad request', async (_, body) => {
  expect((await ask(PATH, body)).status).toBe(400);
});

test('deletions are allowed, whatever was there', async () => {
  const request = { operation: 'DELETE', object: null, oldObject: { spec: 1 } };
  for (const kind of ['virtualmachines', 'virtualmachineinstances', 'virtualmachineinstancemigrations'])
    expect(await ask(`/validate/${kind}`, review({}, request))).toMatchObject({
      body: { response: { allowed: true } },
    });
});

test('other paths and methods are told', async () => {
  expect((await ask('/validate/nothing', review({}))).status).toBe(404);
  expect((await ask(PATH, '', 'GET')).status).toBe(405);
});

test('what is too long for an object is not read to its end', async () => {
  const answer = await ask(PATH, 'x'.repeat(21 * 1024 * 1024)).catch((error: unknown) => error);
  expect(answer instanceof Error || (answer as { status: number }).status === 413).toBe(true);
});

test('an API server that is down is told, and the client tries again', async () => {
  const { status, body } = await ask(
    '/validate/virtualmachineinstancemigrations',
    review({ metadata: { name: 'move' }, spec: { vmiName: 'web' } }),
  );
  expect({ status, body }).toEqual({ status: 500, body: { message: 'the API server did not answer' } });
});

test('reviews are counted by webhook and result', async () => {
  const text = await register.metrics();
  for (const result of ['allowed', 'refused', 'failed'])
    expect(text).toMatch(
      new RegExp(`virtflow_admission_duration_seconds_count{webhook="${PATH}",result="${result}"} [1-9]`),
    );
});
