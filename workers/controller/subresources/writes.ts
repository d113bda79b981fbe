import { isNotFound, isPatchTestFailed } from '../../../activities/kube/errors.ts';
import { collectionPath, objectPath } from '../../../activities/kube/kinds.ts';
import type { Name } from '../../../activities/kube/port.ts';
import type { Rest, RestRequest } from '../../../activities/kube/rest.ts';
import type { Write } from '../../../api/subresources/lifecycle.ts';
import type { Operation } from '../../../api/subresources/patches.ts';
import type { Status } from '../../../api/subresources/status.ts';
import { conflict, notFound } from '../../../api/subresources/status.ts';
import type { Logger } from '../../shared/logging.ts';

export interface WritePorts {
  rest: Rest;
  log: Logger;
}

/**
 * Carries out what was decided, in its order; undefined when all is written. If one cannot be written, what was written before is taken back. With
 * `dryRun` the API server looks at each (admission too) and stores nothing.
 * @throws KubeError that is no answer to the user's request
 */
export const carryOut = async (
  { rest, log }: WritePorts,
  object: Name,
  writes: readonly Write[],
  dryRun: boolean,
): Promise<Status | undefined> => {
  const query = dryRun ? { dryRun: 'All' } : {};
  const written: Write[] = [];
  for (const write of writes) {
    try {
      await rest.send({ ...requestOf(object, write), query });
      written.unshift(write);
    } catch (error) {
      for (const operations of dryRun ? [] : written.flatMap(undoOf)) {
        await rest.send(patchOf('VirtualMachineInstance', object, operations)).catch((err: unknown) => {
          log.warn({ err, ...object }, 'a change could not be taken back');
        });
      }
      const refusal = refusalOf(object, write, error);
      if (refusal === undefined) throw error;
      return refusal;
    }
  }
  return undefined;
};

const undoOf = (write: Write): Operation[][] => ('undo' in write && write.undo !== undefined ? [write.undo] : []);

const requestOf = (object: Name, write: Write): RestRequest => {
  if ('create' in write) {
    const path = collectionPath('VirtualMachineInstanceMigration', object.namespace);
    return { method: 'POST', path, body: write.create };
  }
  const isOfStatus = write.patch === 'VirtualMachine' && write.status;
  return patchOf(write.patch, object, write.operations, isOfStatus ? 'status' : undefined);
};

const patchOf = (
  kind: 'VirtualMachine' | 'VirtualMachineInstance',
  object: Name,
  operations: readonly Operation[],
  subresource?: 'status',
): RestRequest => ({
  method: 'PATCH',
  path: objectPath(kind, object, subresource),
  body: operations,
  contentType: 'application/json-patch+json',
});

/** The object is gone, or it has changed since it was read. */
const refusalOf = ({ name }: Name, write: Write, error: unknown): Status | undefined => {
  if ('create' in write) return undefined;
  const subject = write.patch === 'VirtualMachine' ? 'virtualmachine' : 'virtualmachineinstance';
  if (isNotFound(error)) return notFound(subject, name);
  return isPatchTestFailed(error)
    ? conflict(subject, name, 'jsonpatch test operation does not apply: it has changed meanwhile, try again')
    : undefined;
};
