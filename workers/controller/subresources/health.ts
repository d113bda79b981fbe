import type { Rest } from '../../../activities/kube/rest.ts';
import type { Answer } from './answer.ts';

/** Anybody may ask; the API server is asked no more often than this, in ms. */
const HOLDS_MS = 5_000;

/** Whether the API server is reached, in KubeVirt's words: without it nothing here works. */
export const health = (rest: Rest, clock: () => number = Date.now): (() => Promise<Answer>) => {
  let known: { until: number; answer: Promise<Answer> } | undefined;
  const ask = async (): Promise<Answer> => {
    try {
      const version = await rest.send({ method: 'GET', path: '/version' });
      return { status: 200, json: { apiserver: { connectivity: 'ok', version } } };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { status: 500, json: { apiserver: { connectivity: 'failed', error: reason } } };
    }
  };
  return () => {
    const now = clock();
    if (known === undefined || known.until <= now) known = { until: now + HOLDS_MS, answer: ask() };
    return known.answer;
  };
};
