import type { Adoption } from '../../api/contract/activities.ts';
import { ping } from '../../api/contract/operations.ts';
import type { PodFacts } from '../../api/contract/facts.ts';
import type { ObjectRef } from '../../api/contract/refs.ts';
import { migrationId, shutdownId, startId } from '../../api/contract/refs.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import { bookkeeping, nodeActivities } from '../shared/proxies.ts';
import { tell } from '../shared/signals.ts';
import type { Found, FoundOperation } from './found.ts';
import { migrationsOf } from './left-behind.ts';

type Holder = NonNullable<Found['token']>['holder'];

/** Attempts that are asked for when neither token nor Pod tells one. */
const FIRST_ATTEMPTS = [1, 2, 3];

/** Looks at the world: object, token and Pods live, their launchers, and an operation that an earlier life of the entity may have left running. */
export const adopt = async (vmi: ObjectRef): Promise<Found> => {
  const adoption = await bookkeeping('Adopt').adoptInstance(vmi);
  const pods = adoption.pods.filter(({ gone }) => gone !== true);
  const isNew = pods.length === 0 && adoption.token?.holder?.vmiUid !== vmi.uid;
  if (isNew) return { ...adoption, domains: {} };
  const open = await openOperations(vmi, { ...adoption, pods });
  const reports = await Promise.all(pods.map((pod) => inspect(vmi, pod)));
  return {
    ...{
      ...adoption,
      domains: Object.fromEntries(reports.flatMap((report) => (report ? [[report.podUid, report]] : []))),
    },
    ...open,
  };
};

/** A guest is shut down beside a migration only once that has nothing left to do but to clear up. */
const openOperations = async (vmi: ObjectRef, adoption: Adoption): Promise<Pick<Found, 'operation' | 'clearing'>> => {
  const { pods, token } = adoption;
  const holder: Holder = token?.holder;
  const ofHolder = holder?.vmiUid === vmi.uid ? [holder.attempt] : [];
  const told = [...new Set([...ofHolder, ...pods.map(({ attempt }) => attempt)])].filter(
    (attempt) => attempt !== undefined,
  );
  const asked: FoundOperation[] = [
    ...migrationsOf(vmi, adoption).map((migration) => ({
      ...{ id: migrationId(migration), kind: 'migrate' as const, attempt: 1, migration },
    })),
    ...(told.length > 0 ? told : FIRST_ATTEMPTS).map((attempt) => ({
      ...{ id: startId(vmi, attempt), kind: 'start' as const, attempt },
    })),
    ...FIRST_ATTEMPTS.map((attempt) => ({ ...{ id: shutdownId(vmi, attempt), kind: 'shutdown' as const, attempt } })),
  ];
  const answers = await Promise.all(asked.map(({ id }) => tell(id, ping)));
  const open = asked.filter((_, index) => answers[index]);
  const shutdown = open.find(({ kind }) => kind === 'shutdown');
  const operation = shutdown ?? open[0];
  const clearing = shutdown === undefined ? undefined : open.find(({ kind }) => kind === 'migrate');
  return { ...(operation === undefined ? {} : { operation }), ...(clearing === undefined ? {} : { clearing }) };
};

/** The launcher's answer; undefined when nobody answers. */
const inspect = async (vmi: ObjectRef, pod: PodFacts): Promise<DomainReport | undefined> => {
  const { name, uid, node } = pod;
  if (node === undefined || pod.provenEnded) return undefined;
  try {
    return await nodeActivities(node, `Ask the launcher of ${name}`).inspectDomain({ vmi, pod: { name, uid, node } });
  } catch {
    return undefined;
  }
};
