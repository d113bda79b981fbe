import { kubectl, apply } from './kubectl.ts';

/** A namespace, made if it is not there. */
export async function ensureNamespace(name: string, labels: Record<string, string> = {}): Promise<void> {
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
}

/** Deletes all VMs and VMIs of a namespace and waits until they are gone: what an earlier run left, or at the end. */
export const emptyNamespace = (name: string): Promise<string> =>
  kubectl(['delete', 'vm,vmi', '--all', '-n', name, '--wait', '--timeout=180s']);
