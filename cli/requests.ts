import { defaultKubeConfig, restOf } from '../activities/kube/rest.ts';
import { talking, type Target } from './virtual-machine.ts';

/** What the front door is asked for, with its options; it decides by the VM's run strategy what that makes of its objects. */
export type Request =
  | { action: 'start'; paused?: boolean }
  | { action: 'stop'; gracePeriod?: number }
  | { action: 'restart'; gracePeriodSeconds?: number };

/** Asks for a start, stop or restart of a VM as virtctl does. @throws UserError with the front door's words when it refuses */
export async function ask({ name }: Target, doing: string, { action, ...options }: Request): Promise<void> {
  const names = `namespaces/${encodeURIComponent(name.namespace)}/virtualmachines/${encodeURIComponent(name.name)}`;
  const path = `/apis/subresources.kubevirt.io/v1/${names}/${action}`;
  await talking(doing, () => restOf(defaultKubeConfig()).send({ method: 'PUT', path, body: options }));
}
