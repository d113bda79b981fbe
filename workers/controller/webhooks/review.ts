import { z } from 'zod';
import type { Cause } from '../../../api/validation/index.ts';

const object = z.looseObject({});

const review = z.looseObject({
  request: z.looseObject({
    uid: z.string().min(1),
    kind: z.looseObject({ group: z.string().default(''), kind: z.string().default('') }),
    name: z.string().default(''),
    namespace: z.string().default(''),
    operation: z.string(),
    userInfo: z.looseObject({ username: z.string().default('') }).default({ username: '' }),
    object: object.nullish(),
    oldObject: object.nullish(),
    dryRun: z.boolean().default(false),
  }),
});

/** A change that somebody asks of the API server, as far as admission looks at it (AdmissionReview, admission.k8s.io/v1). */
export type AdmissionRequest = z.infer<typeof review>['request'];

/** What becomes of it. */
export type Verdict =
  | { allowed: true; patch?: PatchOperation[]; warnings?: string[] }
  | { allowed: false; status: RefusalStatus; warnings?: string[] };

/** One operation of a JSON patch (RFC 6902). */
export type PatchOperation = { op: 'add'; path: string; value: unknown } | { op: 'remove'; path: string };

/** Kubernetes' Status as far as a refusal has it; the API server adds the rest. */
export interface RefusalStatus {
  code: number;
  reason: string;
  message: string;
  details?: { group: string; kind: string; name: string; causes: { reason: string; field: string; message: string }[] };
}

/** Decides on one request. Throws only when it cannot tell: then the API server refuses (failurePolicy Fail) and the client tries again. */
export type Judge = (request: AdmissionRequest) => Verdict | Promise<Verdict>;

/** @throws z.ZodError, SyntaxError when it is no AdmissionReview */
export const parseReview = (body: string): AdmissionRequest => review.parse(JSON.parse(body)).request;

export const ALLOWED: Verdict = { allowed: true };

/** The refusal for these causes, all of them; none: allowed. */
export const refusedFor = ({ kind, name }: AdmissionRequest, causes: readonly Cause[]): Verdict => {
  if (causes.length === 0) return ALLOWED;
  return {
    allowed: false,
    status: {
      code: 422,
      reason: 'Invalid',
      // For clients that show nothing else.
      message: causes.map(({ field, message }) => `${field}: ${message}`).join('; '),
      details: {
        ...{ group: kind.group, kind: kind.kind, name },
        causes: causes.map(({ type, field, message }) => ({ reason: type, field, message })),
      },
    },
  };
};

/** The API server cuts longer warnings, in characters. */
const WARNING_MAX = 256;

/** The AdmissionReview that answers. */
export const answerOf = (uid: string, verdict: Verdict): object => {
  const { warnings = [] } = verdict;
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed: verdict.allowed,
      ...(verdict.allowed ? {} : { status: verdict.status }),
      ...(verdict.allowed && verdict.patch !== undefined && verdict.patch.length > 0
        ? { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(verdict.patch)).toString('base64') }
        : {}),
      ...(warnings.length > 0 ? { warnings: warnings.map((text) => text.slice(0, WARNING_MAX)) } : {}),
    },
  };
};
