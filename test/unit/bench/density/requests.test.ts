import { expect, test } from '@jest/globals';
import { isWrite, readRequest, tally } from '../../../bench/density/requests.ts';

const AT = '2026-11-30T08:00:00.500000Z';
const FROM = Date.parse('2026-11-30T08:00:00Z');
const TO = FROM + 1_000;

const entry = (change: object = {}): string =>
  JSON.stringify({
    stage: 'ResponseComplete',
    verb: 'patch',
    user: { username: 'system:serviceaccount:virtflow:virtflow-controller' },
    userAgent: 'virtflow',
    objectRef: { resource: 'virtualmachines', subresource: 'status' },
    responseStatus: { code: 200 },
    requestReceivedTimestamp: AT,
    ...change,
  });

test('a request names its account, and a subresource with its resource', () => {
  expect(readRequest(entry(), FROM, TO)).toEqual({
    ...{ who: 'controller', verb: 'patch', resource: 'virtualmachines/status', status: 200 },
  });
});

test.each([
  [{ user: { username: 'system:serviceaccount:virtflow:virtflow-node' } }, 'node'],
  [{ user: { username: 'admin' }, userAgent: 'kwok/v0.7.0 (linux/amd64)' }, 'kwok'],
  [{ user: { username: 'admin' } }, 'bench'],
  [{ user: { username: 'system:kube-scheduler' } }, 'scheduler'],
  [{ user: { username: 'system:serviceaccount:kube-system:generic-garbage-collector' } }, 'controller-manager'],
])('of %o asks %s', (change, who) => {
  expect(readRequest(entry(change), FROM, TO)?.who).toBe(who);
});

test.each([
  ['came before', entry({ requestReceivedTimestamp: '2026-11-30T07:59:59.999999Z' })],
  ['came after', entry({ requestReceivedTimestamp: '2026-11-30T08:00:01.000001Z' })],
  ['is a watch', entry({ verb: 'watch' })],
  ['is still being answered', entry({ stage: 'ResponseStarted' })],
  ['is half written', entry().slice(0, 40)],
])('what %s is not counted', (_, text) => {
  expect(readRequest(text, FROM, TO - 1)).toBeUndefined();
});

test('requests are counted by who, verb and resource, most first, with their conflicts', () => {
  const get = { who: 'controller', verb: 'get', resource: 'pods' };
  const patch = { who: 'controller', verb: 'patch', resource: 'pods' };
  const seen = [
    { ...get, status: 200 },
    { ...patch, status: 409 },
    { ...patch, status: 200 },
    { ...get, who: 'node', status: 200 },
  ];
  expect(tally(seen)).toEqual([
    { ...patch, count: 2, conflicts: 1 },
    { ...get, count: 1, conflicts: 0 },
    { ...get, who: 'node', count: 1, conflicts: 0 },
  ]);
});

test('reads are no writes', () => {
  expect(['get', 'list', 'create', 'update', 'patch', 'delete'].filter((verb) => isWrite({ verb }))).toEqual([
    ...['create', 'update', 'patch', 'delete'],
  ]);
});
