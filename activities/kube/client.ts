import { createHash } from 'node:crypto';
import { isAlreadyExists, isConflict, isNotFound } from './errors.ts';
import { collectionPath, objectPath, RESOURCES } from './kinds.ts';
import type { Kind, Kinds, KubePort, Name } from './port.ts';
import type { Rest } from './rest.ts';
import { defaultKubeConfig, restOf } from './rest.ts';

interface List {
  metadata?: { continue?: string; resourceVersion?: string };
  items?: object[];
}

/** Objects per page of a list. */
const PAGE = 500;

/** Every object of a kind, page by page, with the collection's resourceVersion (where a watch may begin). @throws KubeError */
export const listAll = async <K extends Kind>(
  rest: Rest,
  kind: K,
  options: { namespace?: string; labelSelector?: string; fieldSelector?: string; signal?: AbortSignal } = {},
): Promise<{ items: Kinds[K][]; resourceVersion: string }> => {
  const { namespace, labelSelector, fieldSelector, signal } = options;
  const items: Kinds[K][] = [];
  let more: string | undefined;
  for (;;) {
    const page = (await rest.send({
      method: 'GET',
      path: collectionPath(kind, namespace),
      query: {
        limit: String(PAGE),
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
        ...(more === undefined ? {} : { continue: more }),
      },
      ...(signal === undefined ? {} : { signal }),
    })) as List;
    // Lists of built-in kinds leave apiVersion and kind out of their items.
    for (const item of page.items ?? []) {
      items.push({ apiVersion: RESOURCES[kind].apiVersion, kind, ...item } as Kinds[K]);
    }
    more = page.metadata?.continue;
    if (more === undefined || more === '') return { items, resourceVersion: page.metadata?.resourceVersion ?? '' };
  }
};

/** KubePort over live requests to the API server. */
export const kubeClient = (rest: Rest): KubePort => {
  const send = async <K extends Kind>(request: Parameters<Rest['send']>[0]): Promise<Kinds[K]> =>
    (await rest.send(request)) as Kinds[K];
  const nameOf = (object: { metadata?: { namespace?: string; name?: string } }): Name => ({
    ...(object.metadata?.namespace === undefined ? {} : { namespace: object.metadata.namespace }),
    name: object.metadata?.name ?? '',
  });
  const patch = <K extends Kind>(kind: K, name: Name, body: object, contentType: string, subresource?: string) =>
    send<K>({ method: 'PATCH', path: objectPath(kind, name, subresource), body, contentType });

  return {
    get: <K extends Kind>(kind: K, name: Name) =>
      send<K>({ method: 'GET', path: objectPath(kind, name) }).catch(undefinedIf(isNotFound)),
    list: async (kind, options) => (await listAll(rest, kind, options)).items,
    create: <K extends Kind>(kind: K, object: Kinds[K]) =>
      send<K>({ method: 'POST', path: collectionPath(kind, object.metadata?.namespace), body: object }),
    replace: <K extends Kind>(kind: K, object: Kinds[K]) =>
      send<K>({ method: 'PUT', path: objectPath(kind, nameOf(object)), body: object }),
    mergePatch: (kind, name, body, options) =>
      patch(kind, name, body, 'application/merge-patch+json', options?.subresource),
    jsonPatch: (kind, name, body, options) =>
      patch(kind, name, body, 'application/json-patch+json', options?.subresource),
    async remove<K extends Kind>(kind: K, name: Name, options: Parameters<KubePort['remove']>[2]) {
      const { uid, resourceVersion, gracePeriodSeconds, propagation } = options;
      const left = await send<K>({
        method: 'DELETE',
        path: objectPath(kind, name),
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
          ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
          ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
        },
      }).catch(undefinedIf((error) => isNotFound(error) || isConflict(error)));
      return left?.kind === kind ? left : undefined;
    },
    event: (event) => recordEvent(rest, event),
  };
};

/** KubePort with the process's own credentials. */
export const defaultKubeClient = (): KubePort => kubeClient(restOf(defaultKubeConfig()));

const undefinedIf =
  (expected: (error: unknown) => boolean) =>
  (error: unknown): undefined => {
    if (!expected(error)) throw error;
    return undefined;
  };

/** The same words within this time are one event, so that an activity that is run twice says it once, in ms. */
const SAME_EVENT_MS = 10_000;

const recordEvent = async (rest: Rest, event: Parameters<KubePort['event']>[0]): Promise<void> => {
  const { involved, type, reason, message, component, once } = event;
  const now = new Date();
  const said = `${involved.uid}/${type}/${reason}/${message}/${once ?? Math.floor(now.getTime() / SAME_EVENT_MS)}`;
  const digest = createHash('sha256').update(said).digest('hex').slice(0, 16);
  const at = now.toISOString().replace(/\.\d+Z$/, 'Z');
  const body = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${involved.name.slice(0, 200)}.${digest}`, namespace: involved.namespace },
    involvedObject: involved,
    ...{ type, reason, message, source: { component } },
    ...{ firstTimestamp: at, lastTimestamp: at, count: 1 },
  };
  const path = `/api/v1/namespaces/${encodeURIComponent(involved.namespace)}/events`;
  await rest.send({ method: 'POST', path, body }).catch(undefinedIf(isAlreadyExists));
};
