import { KubeError } from '../activities/kube/port.ts';

/** Something the person at the keyboard can act on: printed as one line, without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** Turns what the API server or the network said into words for people; anything else passes through. */
export function explain(error: unknown, doing: string): unknown {
  if (error instanceof KubeError && error.status === 0)
    return new UserError(`${doing}: the API server cannot be reached (${error.message}). Is KUBECONFIG right?`, {
      cause: error,
    });
  if (error instanceof KubeError) return new UserError(`${doing}: ${error.message}`, { cause: error });
  if ((error as NodeJS.ErrnoException).code === 'ENOENT')
    return new UserError(`${doing}: there is no kubeconfig (${(error as Error).message}). Set KUBECONFIG.`, {
      cause: error,
    });
  return error;
}
