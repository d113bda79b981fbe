import type { NodeRef } from '../../api/contract/nodes.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { isDefect, toFailureInfo } from '../shared/failures.ts';
import { controllerActivities } from '../shared/proxies.ts';
import { after, now } from '../shared/time.ts';
import type { Memory, Plan } from './plan.ts';
import { REFUSED_MS } from './plan.ts';

const nameOf = ({ namespace, name }: ObjectRef): string => `${namespace}/${name}`;

/**
 * Carries out what was planned. What the world refuses for one instance is remembered, shown and tried again later; it holds up none of the others.
 * @returns the memory afterwards, and whether something was tried that makes the view old
 */
export const carryOut = async (
  node: NodeRef,
  { create, withdraw, cancel, backoffs }: Plan,
  memory: Memory,
): Promise<{ memory: Memory; changed: boolean }> => {
  for (const vmi of withdraw) await controllerActivities(`${nameOf(vmi)} may stay`).withdrawEvacuation({ node, vmi });
  for (const migration of cancel)
    await controllerActivities(`Cancel ${nameOf(migration)}`).cancelEvacuation({ node, migration });
  const begun = await Promise.all(create.map((vmi) => begin(node, vmi)));
  for (const backoff of backoffs) await controllerActivities(`${nameOf(backoff.vmi)} backs off`).tellBackoff(backoff);
  const created = begun.filter(({ refused }) => refused === undefined).length;
  return {
    memory: {
      ...{ ...memory, created: memory.created + created },
      // Who has begun is not refused any more, whoever has waited long enough for another try has had it.
      refused: {
        ...without(
          memory.refused,
          create.map(({ uid }) => uid),
        ),
        ...Object.fromEntries(
          begun.flatMap(({ uid, refused }) => (refused === undefined ? [] : [[uid, refused] as const])),
        ),
      },
      told: { ...memory.told, ...Object.fromEntries(backoffs.map(({ vmi, failed }) => [vmi.uid, failed] as const)) },
      ...(withdraw.length > 0 ? { wasCordoned: false, uncordoned: true } : {}),
    },
    changed: create.length + withdraw.length + cancel.length > 0,
  };
};

type Refused = Memory['refused'][string];

const begin = async (node: NodeRef, vmi: ObjectRef): Promise<{ uid: string; refused?: Refused }> => {
  try {
    await controllerActivities(`Migrate ${nameOf(vmi)}`).createEvacuation({ node, vmi });
    return { uid: vmi.uid };
  } catch (error) {
    if (isDefect(error)) throw error;
    return { uid: vmi.uid, refused: { failure: toFailureInfo(error), retryAt: after(now(), REFUSED_MS) } };
  }
};

const without = <T>(record: Record<string, T>, keys: readonly string[]): Record<string, T> =>
  Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));
