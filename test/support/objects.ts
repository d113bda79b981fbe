import type { Kinds, KubePort } from '../../activities/kube/port.ts';

type Object = { metadata?: { namespace?: string; name?: string } };

/** The API server as far as reads go, with these objects: for rules about what is there. */
export const reading = (objects: { [K in keyof Kinds]?: Object[] }): Pick<KubePort, 'get'> => ({
  get: <K extends keyof Kinds>(kind: K, { namespace, name }: { namespace?: string; name: string }) => {
    const found = (objects[kind] ?? []).find(
      ({ metadata }) => metadata?.name === name && metadata.namespace === namespace,
    );
    return Promise.resolve(structuredClone(found) as Kinds[K] | undefined);
  },
});
