import type { VmHistory, OperationView } from '../../../cli/history/model.ts';
import { virtflow } from './kubectl.ts';
import { NAMESPACE } from './vms.ts';

/** Operations of a VM, oldest first, as `virtflow history` shows them. */
export async function history(name: string): Promise<OperationView[]> {
  return (JSON.parse(await virtflow(['history', name, '-n', NAMESPACE, '-o', 'json'])) as VmHistory).operations;
}

/** The newest operation of one kind. */
export const lastOperation = async (name: string, operation: string): Promise<OperationView | undefined> =>
  (await history(name)).filter((one) => one.operation === operation).at(-1);
