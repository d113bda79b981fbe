import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Logger } from '../../shared/logging.ts';
import type { HttpsHandlers } from '../https/server.ts';
import type { ReviewMetrics, ReviewResult } from './metrics.ts';
import type { Judge } from './review.ts';
import { answerOf, parseReview } from './review.ts';

/** Objects have at most 1.5 MiB (etcd); a review of a change holds two, and JSON may write a character with six. */
const MAX_BYTES = 20 * 1024 * 1024;

/** One judge per path: answers AdmissionReviews. */
export const webhookHandlers = (
  judges: Record<string, Judge>,
  { log, metrics }: { log: Logger; metrics: ReviewMetrics },
): HttpsHandlers => ({
  request: (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const judge = judges[path];
    if (judge === undefined) return answer(response, 404, 'no such webhook');
    if (request.method !== 'POST') return answer(response, 405, 'a review is POSTed');
    const begin = performance.now();
    void review(judge, request, response, log.child({ webhook: path })).then((result) =>
      metrics(path, result, (performance.now() - begin) / 1000),
    );
  },
  upgrade: (_request, socket) => void socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n'),
});

const review = async (
  judge: Judge,
  request: IncomingMessage,
  response: ServerResponse,
  log: Logger,
): Promise<ReviewResult> => {
  try {
    const body = await bodyOf(request);
    if (body === undefined) return failed(response, 413, `a review has at most ${MAX_BYTES} bytes`);
    const asked = parseReview(body);
    const verdict = await judge(asked);
    if (!verdict.allowed) {
      const { namespace, name, operation, kind, userInfo } = asked;
      log.info(
        { namespace, name, operation, kind: kind.kind, user: userInfo.username, reason: verdict.status.message },
        'refused',
      );
    }
    answer(response, 200, answerOf(asked.uid, verdict));
    return verdict.allowed ? 'allowed' : 'refused';
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof SyntaxError)
      return failed(response, 400, `no AdmissionReview of admission.k8s.io/v1: ${error.message}`);
    if (request.destroyed && !request.complete) return 'failed';
    log.error({ err: error }, 'review failed');
    return failed(response, 500, error instanceof Error ? error.message : String(error));
  }
};

const failed = (response: ServerResponse, status: number, message: string): ReviewResult => {
  answer(response, status, message);
  return 'failed';
};

/** Undefined: too long. */
const bodyOf = async (request: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

const answer = (response: ServerResponse, status: number, body: object | string): void => {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(typeof body === 'string' ? { message: body } : body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
};
