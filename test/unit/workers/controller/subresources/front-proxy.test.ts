import { expect, test } from '@jest/globals';
import { readFrontProxy } from '../../../../../workers/controller/subresources/front-proxy.ts';

const CA = 'requestheader-client-ca-file';

test('whom to believe stands in the ConfigMap, with Kubernetes’ own names where it says nothing', () => {
  expect(readFrontProxy({ data: { [CA]: 'pem' } })).toEqual({
    authorities: 'pem',
    allowedNames: [],
    ...{ usernameHeaders: ['X-Remote-User'], uidHeaders: [], groupHeaders: ['X-Remote-Group'] },
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  });
  expect(
    readFrontProxy({
      data: {
        [CA]: 'pem',
        'requestheader-allowed-names': '["front-proxy-client"]',
        'requestheader-username-headers': '["X-User","X-Remote-User"]',
        'requestheader-uid-headers': '["X-Remote-Uid"]',
        'requestheader-group-headers': '["X-Group"]',
        'requestheader-extra-headers-prefix': '["X-Extra-"]',
      },
    }),
  ).toEqual({
    ...{ authorities: 'pem', allowedNames: ['front-proxy-client'] },
    ...{ usernameHeaders: ['X-User', 'X-Remote-User'], uidHeaders: ['X-Remote-Uid'], groupHeaders: ['X-Group'] },
    extraHeaderPrefixes: ['X-Extra-'],
  });
});

test.each([
  [{}, /requestheader-client-ca-file/],
  [{ [CA]: '' }, /requestheader-client-ca-file/],
  [{ [CA]: 'pem', 'requestheader-allowed-names': 'front-proxy' }, /requestheader-allowed-names/],
  [{ [CA]: 'pem', 'requestheader-group-headers': '{"a":1}' }, /requestheader-group-headers/],
])('%j is nothing to go by', (data, message) => {
  expect(() => readFrontProxy({ data })).toThrow(message);
});
