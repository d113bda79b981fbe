import type { ControllerActivities } from '../../../api/contract/activities.ts';
import { instanceFacts } from '../../facts/instance.ts';
import { runToken } from '../../facts/token.ts';
import { podsCreatedBy } from '../pods.ts';
import type { ControllerPorts } from '../ports.ts';
import { readToken } from '../token/store.ts';
import { findInstance } from './read.ts';

/** Everything the API server knows of a VMI: the object, its run token, its Pods. Live reads. */
export const adoptInstance =
  ({ kube }: Pick<ControllerPorts, 'kube'>): ControllerActivities['adoptInstance'] =>
  async (ref) => {
    const [vmi, read, pods] = await Promise.all([
      findInstance(kube, ref),
      readToken(kube, ref),
      podsCreatedBy(kube, ref),
    ]);
    return {
      ...(vmi === undefined ? {} : { instance: instanceFacts(vmi) }),
      ...(read === undefined ? {} : { token: runToken(read.token) }),
      pods,
    };
  };
