import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { readFrontProxy, watchFrontProxy } from '../../../../../workers/controller/subresources/front-proxy.ts';
import { fakeApiServer } from '../../../../support/fake-api-server.ts';
import { until } from '../../../../support/until.ts';

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

const configMap = (authorities: string, resourceVersion: string) => ({
  metadata: { namespace: 'kube-system', name: 'extension-apiserver-authentication', uid: 'uid', resourceVersion },
  data: { [CA]: authorities },
});

test('a new authority is taken over as soon as the API server tells of it; what cannot be read leaves the last one', async () => {
  const stop = new AbortController();
  const watching = Promise.withResolvers<ServerResponse>();
  const { rest, asked, close } = await fakeApiServer(({ query }) =>
    query.has('watch')
      ? (response) => watching.resolve(response)
      : { status: 200, body: { metadata: { resourceVersion: '1' }, items: [configMap('first', '1')] } },
  );
  const watch = watchFrontProxy(rest, pino({ level: 'silent' }), stop.signal);
  const changes: (string | undefined)[] = [];
  watch.onChange(() => changes.push(watch.current()));
  const say = (response: ServerResponse, object: object) =>
    response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
  try {
    const response = await watching.promise;
    expect(watch.current()).toBe('first');
    say(response, configMap('', '2'));
    say(response, configMap('second', '3'));
    await until('it is known', () => watch.current() === 'second');
    expect(changes).toEqual(['first', 'second']);
    expect(asked[0]).toMatchObject({ path: '/api/v1/namespaces/kube-system/configmaps' });
    expect(asked[0]?.query.get('fieldSelector')).toBe('metadata.name=extension-apiserver-authentication');
  } finally {
    stop.abort();
    await watch.done;
    await close();
  }
});
