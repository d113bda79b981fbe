import { KubeError } from './port.ts';

interface Status {
  kind?: string;
  reason?: string;
  message?: string;
}

const parse = (body: string): Status => {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
};

/**
 * The one place where an answer of the API server that is not a success becomes a KubeError. `what` names the request in messages. The answer itself
 * is the error's cause.
 */
export const fromResponse = (status: number, body: string, what: string): KubeError => {
  const answer = parse(body);
  const detail = answer.message ?? body.slice(0, 500).trim();
  return new KubeError(
    status,
    answer.reason ?? `HTTP${status}`,
    `${what}: ${detail === '' ? `HTTP ${status}` : detail}`,
    { cause: answer },
  );
};

/** No answer at all: refused connection, time-out, broken TLS. */
export const fromNetwork = (error: unknown, what: string): KubeError => {
  if (error instanceof KubeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new KubeError(0, 'Unreachable', `${what}: the API server did not answer (${message}).`, { cause: error });
};

/** The API server says that there is no such object. A path that it does not serve (yet) is another thing: it proves nothing. */
export const isNotFound = (error: unknown): boolean => error instanceof KubeError && error.reason === 'NotFound';
/** The API server has no such path: the kind's CRD is not installed, or not ready yet. */
export const isNotServed = (error: unknown): boolean =>
  error instanceof KubeError && error.status === 404 && error.reason !== 'NotFound';
export const isConflict = (error: unknown): boolean =>
  error instanceof KubeError && error.status === 409 && error.reason === 'Conflict';
export const isAlreadyExists = (error: unknown): boolean =>
  error instanceof KubeError && error.reason === 'AlreadyExists';
/** A JSON patch whose `test` did not hold. */
export const isTestFailed = (error: unknown): boolean => error instanceof KubeError && error.status === 422;
/** A patch whose test failed; a refusal of admission, 422 too, has words of its own. */
export const isPatchTestFailed = (error: unknown): boolean =>
  error instanceof KubeError &&
  error.status === 422 &&
  /jsonpatch|the server rejected our request due to an error in our request/.test(error.message);
