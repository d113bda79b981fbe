import { afterAll, expect, test } from '@jest/globals';
import { Health, serveHealth, workerCheck } from '../../../../workers/shared/health.ts';

const health = new Health();
const server = await serveHealth(0, health, () => Promise.resolve('a_metric 1\n'));
const get = async (path: string): Promise<{ status: number; body: string }> => {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  return { status: response.status, body: await response.text() };
};
afterAll(() => server.close());

test('ready only while every check holds, and each says how it stands', async () => {
  let state: 'RUNNING' | 'FAILED' = 'RUNNING';
  health.set('queue', workerCheck({ getState: () => state }));
  health.set('other', () => ({ ok: true, detail: 'fine' }));
  expect((await get('/readyz')).status).toBe(200);
  state = 'FAILED';
  const answer = await get('/readyz');
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body)).toEqual({
    ready: false,
    checks: { queue: { ok: false, detail: 'FAILED' }, other: { ok: true, detail: 'fine' } },
  });
});

test('alive, whatever the checks say', async () => {
  health.set('queue', () => ({ ok: false, detail: '' }));
  expect((await get('/healthz')).status).toBe(200);
});

test('metrics, and nothing else', async () => {
  expect(await get('/metrics')).toEqual({ status: 200, body: 'a_metric 1\n' });
  expect((await get('/secrets')).status).toBe(404);
});
