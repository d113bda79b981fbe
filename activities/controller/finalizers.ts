import type { KubePort, Kinds } from '../kube/port.ts';

type Owned = 'VirtualMachine' | 'VirtualMachineInstance' | 'VirtualMachineInstanceMigration';

/**
 * Writes the list of finalizers if it differs. uid and resourceVersion go along as preconditions: a list cannot be merged.
 * @throws KubeError, a conflict when the object changed since it was read
 */
export const setFinalizers = async <K extends Owned>(
  kube: KubePort,
  kind: K,
  object: Kinds[K],
  change: (finalizers: string[]) => string[],
): Promise<Kinds[K]> => {
  const { namespace, name = '', uid, resourceVersion, finalizers = [] } = object.metadata ?? {};
  const wanted = change(finalizers);
  if (wanted.length === finalizers.length && wanted.every((entry) => finalizers.includes(entry))) return object;
  return kube.mergePatch(
    kind,
    { name, ...(namespace === undefined ? {} : { namespace }) },
    {
      metadata: { uid, resourceVersion, finalizers: wanted },
    },
  );
};

/** The list with an entry added. */
export const including =
  (entry: string) =>
  (finalizers: string[]): string[] =>
    finalizers.includes(entry) ? finalizers : [...finalizers, entry];

/** The list with entries removed. */
export const excluding =
  (...entries: string[]) =>
  (finalizers: string[]): string[] =>
    finalizers.filter((entry) => !entries.includes(entry));
