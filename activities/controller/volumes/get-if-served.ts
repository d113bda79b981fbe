import { KubeError } from '../../kube/port.ts';
import type { Kind, Kinds, KubePort, Name } from '../../kube/port.ts';

/** Live read of an object whose kind the cluster may not have at all: then there is none. */
export const getIfServed = async <K extends Kind>(
  kube: KubePort,
  kind: K,
  name: Name,
): Promise<Kinds[K] | undefined> => {
  try {
    return await kube.get(kind, name);
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return undefined;
    throw error;
  }
};
