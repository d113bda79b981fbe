import { expect, test } from '@jest/globals';
import { patchOf, publishTrust } from '../../../../../workers/controller/https/trust.ts';
import { fakeApiServer, statusAnswer } from '../../../../support/fake-api-server.ts';

const at = (namespace: string, name = 'virtflow-api') => ({ service: { namespace, name, path: '/x' } });

test('every webhook that leads to our front door and trusts somebody else is changed, and no other', () => {
  const configuration = {
    webhooks: [
      { name: 'new', clientConfig: at('virtflow') },
      { name: 'known', clientConfig: { ...at('virtflow'), caBundle: 'Y2E=' } },
      { name: 'old', clientConfig: { ...at('virtflow'), caBundle: 'b2xk' } },
      { name: 'another service', clientConfig: at('virtflow', 'other') },
      { name: 'another namespace', clientConfig: at('elsewhere') },
      { name: 'outside', clientConfig: { url: 'https://x.test' } },
    ],
  };
  expect(patchOf(configuration, 'virtflow', 'Y2E=')).toEqual([
    { op: 'test', path: '/webhooks/0/name', value: 'new' },
    { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: 'Y2E=' },
    { op: 'test', path: '/webhooks/2/name', value: 'old' },
    { op: 'add', path: '/webhooks/2/clientConfig/caBundle', value: 'Y2E=' },
  ]);
});

test('an APIService likewise', () => {
  const apiService = (spec: object) => ({ spec: { group: 'subresources.kubevirt.io', ...spec } });
  expect(patchOf(apiService(at('virtflow')), 'virtflow', 'Y2E=')).toEqual([
    { op: 'test', path: '/spec/service/name', value: 'virtflow-api' },
    { op: 'add', path: '/spec/caBundle', value: 'Y2E=' },
  ]);
  expect(patchOf(apiService({ ...at('virtflow'), caBundle: 'Y2E=' }), 'virtflow', 'Y2E=')).toEqual([]);
  expect(patchOf(apiService(at('kubevirt')), 'virtflow', 'Y2E=')).toEqual([]);
});

test('what is not there, or was changed by another replica meanwhile, is no error; a refusal is', async () => {
  const webhooks = [{ name: 'one', clientConfig: at('virtflow') }];
  let patches = statusAnswer(422, 'Invalid', 'the test failed');
  const api = await fakeApiServer(({ method, path }) => {
    if (method === 'PATCH') return patches;
    return path.endsWith('/mutatingwebhookconfigurations/virtflow')
      ? { status: 200, body: { webhooks } }
      : statusAnswer(404, 'NotFound', 'nothing');
  });
  try {
    await publishTrust(api.rest, 'virtflow', 'ca');
    expect(api.asked.map(({ method }) => method)).toEqual(['GET', 'PATCH', 'GET', 'GET', 'GET']);
    patches = statusAnswer(403, 'Forbidden', 'not yours');
    await expect(publishTrust(api.rest, 'virtflow', 'ca')).rejects.toThrow('not yours');
  } finally {
    await api.close();
  }
});
