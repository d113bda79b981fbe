import { z } from 'zod';
import type { Rest } from '../../../activities/kube/rest.ts';
import { SUBRESOURCES_GROUP } from '../../../api/subresources/catalogue.ts';
import type { Access } from '../../../api/subresources/route.ts';
import type { User } from './front-proxy.ts';

export interface Verdict {
  allowed: boolean;
  /** What the authorizer says about it, if anything. */
  reason: string;
}

/** Asks the API server whether a user may do this. @throws KubeError */
export type Authorize = (user: User, access: Access) => Promise<Verdict>;

const review = z.looseObject({
  status: z.looseObject({
    allowed: z.boolean(),
    denied: z.boolean().optional(),
    reason: z.string().optional(),
    evaluationError: z.string().optional(),
  }),
});

/** How long an answer holds, in ms: long enough for a user's next steps, so short that a right that is taken away is gone at once. */
const HOLDS_MS = 3_000;
const MAX_ANSWERS = 2_000;

/** Authorization by the API server itself (SubjectAccessReview), with the same answers as for its own resources. */
export const authorizer = (rest: Rest, clock: () => number = Date.now): Authorize => {
  const answers = new Map<string, { until: number; verdict: Promise<Verdict> }>();

  const ask = async (user: User, access: Access): Promise<Verdict> => {
    const { name, ...groupsAndExtra } = user;
    const answer = await rest.send({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user: name, ...groupsAndExtra, resourceAttributes: { group: SUBRESOURCES_GROUP, ...access } },
      },
    });
    const { allowed, denied = false, reason, evaluationError } = review.parse(answer).status;
    return { allowed: allowed && !denied, reason: reason ?? evaluationError ?? '' };
  };

  return (user, access) => {
    const now = clock();
    const key = JSON.stringify([user, access]);
    const known = answers.get(key);
    if (known !== undefined && known.until > now) return known.verdict;
    const verdict = ask(user, access);
    answers.delete(key);
    answers.set(key, { until: now + HOLDS_MS, verdict });
    // What failed is asked again.
    verdict.catch(() => answers.get(key)?.verdict === verdict && answers.delete(key));
    forgetOld(answers, now);
    return verdict;
  };
};

/** Oldest first: whatever has run out, and more when there are too many. */
const forgetOld = (answers: Map<string, { until: number }>, now: number): void => {
  for (const [key, { until }] of answers) {
    if (until > now && answers.size <= MAX_ANSWERS) return;
    answers.delete(key);
  }
};
