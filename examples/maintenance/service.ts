import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { TriggerError } from '../../client/index.ts';
import type { TriggerErrorCode, VirtflowClient } from '../../client/index.ts';

interface Answer {
  code: number;
  body: object;
  headers?: Record<string, string>;
}

/** What a maintenance tool may ask for. */
const ACTIONS = ['restart', 'migrate'] as const;
/** How long an answer may be held back for an outcome, in seconds. */
const LONGEST_WAIT = 60;

/**
 * A small service that restarts and migrates VMs through virtflow's Temporal Updates:
 *
 *   POST /vms/{namespace}/{name}/{restart|migrate}   with an Idempotency-Key   202, Location: /operations/{id}
 *   GET  /operations/{id}?wait=30                    its outcome, or where it stands after so many seconds
 *
 * It has no state: the operation's id is all that a caller keeps. Put authentication before it, as before everything that reaches Temporal.
 */
export const maintenanceService = (virtflow: VirtflowClient): Server =>
  createServer((request, response) => {
    answer(virtflow, request).then(
      (answered) => send(response, answered),
      (error: unknown) => send(response, refusal(error)),
    );
  });

const answer = async (virtflow: VirtflowClient, request: IncomingMessage): Promise<Answer> => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
  const [root, ...rest] = pathname.split('/').slice(1).map(decodeURIComponent);
  if (request.method === 'POST' && root === 'vms' && rest.length === 3) {
    const [namespace = '', name = '', action = ''] = rest;
    return ask(virtflow, { namespace, name, action, key: request.headers['idempotency-key'] });
  }
  if (request.method === 'GET' && root === 'operations' && rest.length > 0) {
    return look(virtflow, rest.join('/'), Number(searchParams.get('wait') ?? 0));
  }
  return { code: 404, body: { error: 'POST /vms/{namespace}/{name}/{restart|migrate} or GET /operations/{id}' } };
};

interface Asked {
  namespace: string;
  name: string;
  action: string;
  key: string | string[] | undefined;
}

/** Accepted or refused at once, whatever the API server and the node are doing. */
const ask = async (virtflow: VirtflowClient, { namespace, name, action, key }: Asked): Promise<Answer> => {
  const wanted = ACTIONS.find((one) => one === action);
  if (wanted === undefined) return { code: 404, body: { error: `${action} is none of ${ACTIONS.join(', ')}` } };
  if (typeof key !== 'string')
    return { code: 400, body: { error: 'send an Idempotency-Key: with it a request that is repeated is done once' } };
  const { id } = await virtflow.virtualMachine({ namespace, name })[wanted]({ key });
  return { code: 202, body: { operation: id }, headers: { location: `/operations/${id}` } };
};

/** The outcome, if it comes within `seconds`; else where the operation stands. */
const look = async (virtflow: VirtflowClient, id: string, seconds: number): Promise<Answer> => {
  const operation = virtflow.operation(id);
  const patience = AbortSignal.timeout(Math.min(Math.max(0, seconds || 0), LONGEST_WAIT) * 1000);
  try {
    return { code: 200, body: await operation.outcome({ signal: patience }) };
  } catch (error) {
    if (!patience.aborted) throw error;
    const { phase, steps } = await operation.status();
    return { code: 200, body: { outcome: 'underWay', phase, steps } };
  }
};

const CODES: Record<TriggerErrorCode, number> = {
  ...{ VirtualMachineNotFound: 404, OperationNotFound: 404, Refused: 409, NoAnswer: 503 },
};

const refusal = (error: unknown): Answer => {
  if (error instanceof URIError) return { code: 400, body: { error: 'the path is not well encoded' } };
  if (!(error instanceof TriggerError)) return { code: 500, body: { error: String(error) } };
  // The same key may be sent again: it stays one request.
  const headers: Record<string, string> = error.code === 'NoAnswer' ? { 'retry-after': '5' } : {};
  return { code: CODES[error.code], body: { error: error.message }, headers };
};

const send = (response: ServerResponse, { code, body, headers = {} }: Answer): void => {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(`${JSON.stringify(body)}\n`);
};
