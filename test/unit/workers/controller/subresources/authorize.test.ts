import { expect, test } from '@jest/globals';
import { KubeError } from '../../../../../activities/kube/port.ts';
import type { Rest, RestRequest } from '../../../../../activities/kube/rest.ts';
import type { Access } from '../../../../../api/subresources/route.ts';
import { authorizer } from '../../../../../workers/controller/subresources/authorize.ts';

const access: Access = {
  ...{ verb: 'update', version: 'v1', namespace: 'shop', resource: 'virtualmachines' },
  ...{ subresource: 'start', name: 'web' },
};
const user = { name: 'ann', groups: ['devs'], extra: { scopes: ['a'] } };

/** An API server that answers what it is told to, and a clock that is set by hand. */
const world = () => {
  const requests: RestRequest[] = [];
  let now = 0;
  let answer: () => unknown = () => ({ status: { allowed: true } });
  const rest: Pick<Rest, 'send'> = {
    send: (request) => {
      requests.push(request);
      return Promise.resolve().then(answer);
    },
  };
  return {
    authorize: authorizer(rest as Rest, () => now),
    requests,
    at: (ms: number) => (now = ms),
    answers: (next: typeof answer) => (answer = next),
  };
};

test('the API server is asked for this user, with groups and extra, and for the real subresource', async () => {
  const { authorize, requests } = world();
  expect(await authorize(user, access)).toEqual({ allowed: true, reason: '' });
  expect(requests).toMatchObject([
    {
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        spec: {
          ...{ user: 'ann', groups: ['devs'], extra: { scopes: ['a'] } },
          resourceAttributes: { group: 'subresources.kubevirt.io', ...access },
        },
      },
    },
  ]);
});

test('an answer holds for three seconds, for the same question only', async () => {
  const { authorize, requests, at, answers } = world();
  await Promise.all([authorize(user, access), authorize(user, access)]);
  expect(requests).toHaveLength(1);
  answers(() => ({ status: { allowed: false, reason: 'no rule' } }));
  at(2_999);
  expect((await authorize(user, access)).allowed).toBe(true);
  expect((await authorize(user, { ...access, name: 'db' })).allowed).toBe(false);
  expect((await authorize({ ...user, groups: [] }, access)).allowed).toBe(false);
  at(3_000);
  expect(await authorize(user, access)).toEqual({ allowed: false, reason: 'no rule' });
});

test('what is denied is denied, although it is allowed too', async () => {
  const { authorize, answers } = world();
  answers(() => ({ status: { allowed: true, denied: true } }));
  expect((await authorize(user, access)).allowed).toBe(false);
});

test('a failure is no answer, and is not kept', async () => {
  const { authorize, answers } = world();
  answers(() => {
    throw new KubeError(0, 'Unreachable', 'down');
  });
  await expect(authorize(user, access)).rejects.toThrow('down');
  answers(() => ({ nonsense: true }));
  await expect(authorize(user, access)).rejects.toThrow();
  answers(() => ({ status: { allowed: true } }));
  expect((await authorize(user, access)).allowed).toBe(true);
});

test('any number of questions takes no more memory than thousands of them', async () => {
  const { authorize, requests } = world();
  for (let index = 0; index < 2_500; index += 1) await authorize(user, { ...access, name: `vm-${index}` });
  await authorize(user, { ...access, name: 'vm-2499' });
  expect(requests).toHaveLength(2_500);
  await authorize(user, { ...access, name: 'vm-0' });
  expect(requests).toHaveLength(2_501);
});
