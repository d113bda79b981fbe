import type { Cause } from '../validation/cause.ts';

/** Kubernetes' answer to a request that failed, as kubectl, virtctl and client libraries read it. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, never>;
  status: 'Failure';
  message: string;
  reason: string;
  details?: object;
  code: number;
}

/** What a refusal is about, as KubeVirt calls it in its answers: singular, without version. */
export type Subject = 'virtualmachine' | 'virtualmachineinstance';

const GROUP = 'kubevirt.io';

const status = (code: number, reason: string, message: string, details?: object): Status => ({
  ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason },
  ...(details === undefined ? {} : { details }),
  code,
});

const about = (subject: Subject, name: string): object => ({ name, group: GROUP, kind: subject });

export const badRequest = (message: string): Status => status(400, 'BadRequest', message);

export const unauthorized = (message: string): Status => status(401, 'Unauthorized', message);

/** Refused by authorization. `resource`: group and resource, as in RBAC. */
export const accessDenied = (
  message: string,
  { name, group, kind }: Record<'name' | 'group' | 'kind', string>,
): Status => status(403, 'Forbidden', message, { name, group, kind });

export const forbidden = (subject: Subject, name: string, why: string): Status =>
  status(403, 'Forbidden', `${subject}.${GROUP} "${name}" is forbidden: ${why}`, about(subject, name));

export const notFound = (subject: Subject, name: string): Status =>
  status(404, 'NotFound', `${subject}.${GROUP} "${name}" not found`, about(subject, name));

export const pathNotFound = (): Status => status(404, 'NotFound', 'the server could not find the requested resource');

export const methodNotAllowed = (allowed: string): Status =>
  status(405, 'MethodNotAllowed', `the server does not allow this method on the requested resource: use ${allowed}`);

export const timedOut = (message: string): Status => status(408, 'Timeout', message);

export const conflict = (subject: Subject, name: string, why: string): Status =>
  status(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${subject}.${GROUP} "${name}": ${why}`,
    about(subject, name),
  );

export const tooLarge = (limit: number): Status =>
  status(413, 'RequestEntityTooLarge', `the body of the request is larger than ${limit} bytes`);

export const unsupportedMediaType = (message: string): Status => status(415, 'UnsupportedMediaType', message);

/** Fields of a body that cannot be taken, each with its reason. */
export const invalidFields = (message: string, causes: readonly Cause[], code: 400 | 422 = 422): Status =>
  status(code, code === 422 ? 'Invalid' : 'BadRequest', message, {
    causes: causes.map(({ type, field, message: why }) => ({ reason: type, message: why, field })),
  });

export const internalError = (message: string): Status =>
  status(500, 'InternalError', `Internal error occurred: ${message}`);

/** Part of KubeVirt's API that virtflow does not carry out. */
export const notImplemented = (message: string): Status => status(501, 'NotImplemented', message);

/** By the code that another part answered with. */
export const byCode = (code: number, message: string): Status =>
  status(code, REASONS[code] ?? 'InternalError', message);

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'Timeout',
  409: 'Conflict',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  501: 'NotImplemented',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};
