import type { ObjectRef } from '../../../../api/contract/refs.ts';
import type { Write } from '../../../../api/subresources/lifecycle.ts';
import type { Operation } from '../../../../api/subresources/patches.ts';
import { isPatchTestFailed } from '../../../kube/errors.ts';
import type { KubePort } from '../../../kube/port.ts';
import { KubeError } from '../../../kube/port.ts';

type Patch = Exclude<Write, { create: object }>;

/**
 * Makes the changes that were decided, in their order, each of the object that was looked at. When one cannot be made those before it are taken back.
 * @throws KubeError, a conflict when one has changed since it was read
 */
export const applyWrites = async (
  kube: Pick<KubePort, 'jsonPatch'>,
  on: Record<Patch['patch'], ObjectRef | undefined>,
  writes: readonly Write[],
): Promise<void> => {
  const apply = (kind: Patch['patch'], operations: Operation[], isOfStatus: boolean): Promise<unknown> => {
    const ref = on[kind];
    if (ref === undefined) throw new TypeError(`a ${kind} that is not there cannot be changed`);
    const isSame: Operation = { op: 'test', path: '/metadata/uid', value: ref.uid };
    return kube.jsonPatch(kind, ref, [isSame, ...operations], isOfStatus ? { subresource: 'status' } : {});
  };
  const undos: (() => Promise<unknown>)[] = [];
  for (const write of writes) {
    if ('create' in write) throw new TypeError('objects are created under a name of their own');
    try {
      await apply(write.patch, write.operations, write.patch === 'VirtualMachine' && write.status);
    } catch (error) {
      // Not to be taken back is no reason to hide what went wrong.
      for (const undo of undos) await undo().catch(() => undefined);
      throw isPatchTestFailed(error) ? changedMeanwhile(write.patch, error) : error;
    }
    const undo = 'undo' in write ? write.undo : undefined;
    if (undo !== undefined) undos.unshift(() => apply(write.patch, undo, false));
  }
};

const changedMeanwhile = (kind: Patch['patch'], cause: unknown): KubeError =>
  new KubeError(409, 'Conflict', `the ${kind} has changed since it was read`, { cause });
