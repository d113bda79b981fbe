import type { ServerResponse } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { RestOptions } from '../../../../activities/kube/rest.ts';
import type { Pod } from '../../../../api/kubernetes/types.ts';
import { Informer } from '../../../../workers/shared/informer.ts';
import type { Answer, Asked } from '../../../support/fake-api-server.ts';
import { fakeApiServer, statusAnswer } from '../../../support/fake-api-server.ts';
import { until } from '../../../support/until.ts';

const pod = (uid: string, resourceVersion: string): Pod => ({ metadata: { name: uid, uid, resourceVersion } });
const list = (resourceVersion: string, ...items: Pod[]): Answer => ({
  status: 200,
  body: { metadata: { resourceVersion }, items },
});
const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** An informer on a server with scripted lists and watches; the last of each repeats (a last watch stays open). */
const informerOn = async (
  lists: Answer[],
  watches: ((response: ServerResponse) => void)[],
  options: RestOptions = {},
  resyncMs = 600_000,
) => {
  const stayOpen = (response: ServerResponse): void => void response.flushHeaders();
  const next = ({ query }: Asked): Answer =>
    query.get('watch') === 'true'
      ? (watches.shift() ?? stayOpen)
      : ((lists.length > 1 ? lists.shift() : lists[0]) ?? list('1'));
  const server = await fakeApiServer(next, options);
  const told: string[] = [];
  const informer = new Informer({
    rest: server.rest,
    kind: 'Pod',
    log: pino({ level: 'silent' }),
    maxBackoffMs: 5,
    resyncMs,
    onChange: ({ before, after }) => {
      if (after?.metadata?.name === 'poison') throw new Error('cannot be read');
      told.push(`${before === undefined ? '+' : after === undefined ? '-' : '~'}${(after ?? before)?.metadata?.uid}`);
    },
  });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  cleanUps.push(async () => {
    stop.abort();
    await server.close();
    await running;
  });
  return { informer, told, asked: server.asked };
};

const watchesAsked = (asked: Asked[]) => asked.filter(({ query }) => query.get('watch') === 'true');
const listsAsked = (asked: Asked[]) => asked.filter(({ query }) => query.get('watch') !== 'true');

test('lists, then watches from where the list ended', async () => {
  const { informer, told, asked } = await informerOn(
    [list('10', pod('a', '5'))],
    [
      (response) =>
        response.write(
          line('ADDED', pod('b', '11')) + line('MODIFIED', pod('a', '12')) + line('DELETED', pod('b', '13')),
        ),
    ],
  );
  await until('all is told', () => told.length === 4);
  expect(told).toEqual(['+a', '+b', '~a', '-b']);
  expect(watchesAsked(asked)[0]?.query.get('resourceVersion')).toBe('10');
  expect(watchesAsked(asked)[0]?.query.get('allowWatchBookmarks')).toBe('true');
  expect(informer.check()).toMatchObject({ ok: true });
});

test('a list comes in pages', async () => {
  const first: Answer = {
    status: 200,
    body: { metadata: { resourceVersion: '10', continue: 'more' }, items: [pod('a', '1')] },
  };
  const { told, asked } = await informerOn([first, list('10', pod('b', '2'))], []);
  await until('both are told', () => told.length === 2);
  expect(listsAsked(asked)[1]?.query.get('continue')).toBe('more');
});

test.each<[string, (response: ServerResponse) => void]>([
  ['ends', (response) => response.end(line('BOOKMARK', pod('', '20')))],
  [
    'dies in the middle of a line',
    (response) => {
      response.write(`${line('BOOKMARK', pod('', '20'))}{"type":"ADD`, () => response.destroy());
    },
  ],
  ['is cut', (response) => void response.write(line('BOOKMARK', pod('', '20')), () => response.destroy())],
])('a watch that %s goes on from the last bookmark, without a new list', async (_, watch) => {
  const { told, asked } = await informerOn(
    [list('10', pod('a', '5'))],
    [watch, (response) => response.write(line('ADDED', pod('b', '21')))],
  );
  await until('the second watch tells', () => told.includes('+b'));
  expect(watchesAsked(asked)[1]?.query.get('resourceVersion')).toBe('20');
  expect(listsAsked(asked)).toHaveLength(1);
});

test.each<[string, (response: ServerResponse) => void]>([
  [
    'inside the watch',
    (response) => response.write(line('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' })),
  ],
])('410 %s: a new list tells what was missed, also what is gone', async (_, watch) => {
  const { told } = await informerOn(
    [list('10', pod('a', '5'), pod('b', '6')), list('30', pod('a', '25'), pod('c', '26'))],
    [watch],
  );
  await until('the new list is told', () => told.length === 5);
  expect(told).toEqual(['+a', '+b', '-b', '~a', '+c']);
});

test('a server that is not there yet is tried until it is', async () => {
  const unavailable = statusAnswer(503, 'ServiceUnavailable', 'starting');
  const { informer, told } = await informerOn([unavailable, unavailable, unavailable, list('10', pod('a', '5'))], []);
  expect(informer.check().ok).toBe(false);
  await until('it is listed', () => told.length === 1);
  expect(informer.check().ok).toBe(true);
});

test('a watch that says nothing for too long is opened again', async () => {
  const silent = (response: ServerResponse): void => void response.flushHeaders();
  const { told } = await informerOn(
    [list('10')],
    [silent, (response) => response.write(line('ADDED', pod('a', '11')))],
    { silenceMs: 100 },
  );
  await until('the second watch tells', () => told.includes('+a'));
});

test('a line that is no JSON does not stop it', async () => {
  const { told } = await informerOn(
    [list('10')],
    [(response) => response.write('garbage\n'), (response) => response.write(line('ADDED', pod('a', '11')))],
  );
  await until('the second watch tells', () => told.includes('+a'));
});

test('an object that its listener cannot read disturbs no other', async () => {
  const { told } = await informerOn([list('10', pod('poison', '1'), pod('a', '2'))], []);
  await until('the other is told', () => told.includes('+a'));
});

test('a resync lists again although the watch is well', async () => {
  let written: ServerResponse | undefined;
  const { told, asked } = await informerOn(
    [list('10', pod('a', '5')), list('20', pod('a', '5'), pod('missed', '9'))],
    [
      (response) => {
        written = response;
        response.flushHeaders();
      },
    ],
    {},
    50,
  );
  await until('the watch is open', () => written);
  const tick = setInterval(() => written?.write(line('BOOKMARK', pod('', '11'))), 10);
  await until('the list is told', () => told.includes('+missed'));
  clearInterval(tick);
  expect(listsAsked(asked).length).toBeGreaterThan(1);
});
