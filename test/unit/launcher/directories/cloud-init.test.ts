import { expect, test } from '@jest/globals';
import { noCloudFiles } from '../../../../launcher/directories/cloud-init.ts';

const identity = { name: 'vm', namespace: 'ns', hostname: 'host' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const files = (source: object, secrets = {}): Record<string, string> => noCloudFiles('seed', source, secrets, identity);

test('the instance is identified by name and namespace, and told its host name', () => {
  expect(JSON.parse(files({ userData: '#cloud-config' })['meta-data'] ?? '')).toEqual({
    'instance-id': 'vm.ns',
    'local-hostname': 'host',
  });
});

test.each([
  { what: 'plain text', source: { userData: 'a', networkData: 'b' }, secrets: {} },
  { what: 'base64', source: { userDataBase64: base64('a'), networkDataBase64: base64('b') }, secrets: {} },
  {
    what: 'Secrets',
    source: { secretRef: { name: 's' }, networkDataSecretRef: { name: 't' } },
    secrets: { userData: 'a', networkData: 'b' },
  },
])('user and network data come from $what', ({ source, secrets }) => {
  expect(files(source, secrets)).toMatchObject({ 'user-data': 'a', 'network-config': 'b' });
});

test('without network data there is no network file; without user data an empty one', () => {
  expect(files({ userData: 'a' })).not.toHaveProperty('network-config');
  expect(files({ networkData: 'b' })).toMatchObject({ 'user-data': '' });
});

test.each([
  { source: {}, message: 'spec.volumes[seed].cloudInitNoCloud: has neither user data nor network data' },
  {
    source: { userDataBase64: 'not base64!' },
    message: 'spec.volumes[seed].cloudInitNoCloud.userDataBase64: is not base64',
  },
  {
    source: { userData: 'a', networkDataBase64: '%%%' },
    message: 'spec.volumes[seed].cloudInitNoCloud.networkDataBase64: is not base64',
  },
  {
    source: { userDataBase64: Buffer.from([0xff, 0xfe]).toString('base64') },
    message: 'spec.volumes[seed].cloudInitNoCloud.userDataBase64: does not decode to UTF-8 text',
  },
])('refuses: $message', ({ source, message }) => {
  expect(() => files(source)).toThrow(message);
});
