import type { Pod } from '../../api/kubernetes/types.ts';
import { COMPUTE } from './labels.ts';

/** Variables of `compute` that say what a launcher Pod was made for. Unlike annotations nobody can change them while the Pod is there. */
export const LAUNCH_NOTES = {
  /** Which start attempt of the VMI created it. */
  attempt: 'VIRTFLOW_START_ATTEMPT',
  /** Epoch of the run token under which it was created; for people. */
  epoch: 'VIRTFLOW_RUN_EPOCH',
  /** Of a migration's target, which may need a right of the node for it: whether post-copy is allowed, "true" or "false". */
  postCopy: 'VIRTFLOW_POST_COPY',
} as const;

/** What a launcher Pod says of its making; undefined if it says nothing of that. */
export const launchNote = ({ spec }: Pick<Pod, 'spec'>, note: keyof typeof LAUNCH_NOTES): string | undefined =>
  spec?.containers.find(({ name }) => name === COMPUTE)?.env?.find(({ name }) => name === LAUNCH_NOTES[note])?.value;
