import { notImplemented } from '../../../api/subresources/status.ts';
import type { Answer } from './answer.ts';
import { refuse } from './answer.ts';

/** What whoever adds or removes a volume gets to hear. */
export const NO_HOTPLUG: Answer = refuse(
  notImplemented(
    'volumes of a running VM cannot be added or removed yet: stop it, change spec.template.spec, and start it again',
  ),
);
