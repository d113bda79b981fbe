import type { Around } from '../../../activities/controller/ports.ts';
import { CREATED_BY_LABEL } from '../../../activities/facts/labels.ts';
import type { Namespace } from '../../../api/kubernetes/types.ts';
import type { Informer } from '../../shared/informer.ts';
import type { Informers } from './informers.ts';

/** What starts look at, from the watches. */
export const aroundOf = (
  informers: Pick<Informers, 'Node' | 'Pod' | 'ResourceQuota'>,
  namespaces: Pick<Informer<'Namespace'>, 'list'>,
): Around => ({
  node: (name) => informers.Node.list().find(({ metadata }) => metadata?.name === name),
  namespace: (name): Namespace | undefined => namespaces.list().find(({ metadata }) => metadata?.name === name),
  quotas: (namespace) => informers.ResourceQuota.list().filter(({ metadata }) => metadata?.namespace === namespace),
  launcherPods: (uid) => informers.Pod.list().filter(({ metadata }) => metadata?.labels?.[CREATED_BY_LABEL] === uid),
});
