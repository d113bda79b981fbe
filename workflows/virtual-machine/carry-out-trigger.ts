import { ApplicationFailure } from '@temporalio/workflow';
import type { Triggered, TriggerEffect, TriggerEnd, TriggerInput, TriggerResult } from '../../api/contract/triggers.ts';
import { triggerId } from '../../api/contract/triggers.ts';
import type { Operation, Round } from '../operation/operation.ts';
import { operation } from '../operation/operation.ts';
import { WAIT_LIMIT_MS } from '../operation/patience.ts';
import { found } from '../shared/failures.ts';
import { controllerActivities } from '../shared/proxies.ts';
import { msUntil, now } from '../shared/time.ts';

/** The VM's entity tells when something has changed; looking is for what it cannot see, most of which soon follows what it has seen. */
const LOOK_AFTER_MS = [2_000, 5_000, 10_000, 30_000, 60_000];
const LOOK_EVERY_MS = 300_000;

/** Does what another service has asked of a VM: makes the change of objects that a user would make, and waits for what comes of it. */
export async function carryOutTrigger(input: TriggerInput): Promise<TriggerResult> {
  const { action, key, options, vm, vmi } = input;
  const trigger: Triggered = {
    ...{ operationId: triggerId(vm, action, key), action, options, instance: vmi.uid },
    vm: { namespace: vmi.namespace, ...vm },
  };
  let effect: TriggerEffect = { message: '' };
  let end: TriggerEnd = { message: '' };
  const result = await operation('trigger', input, async ({ step, enter, seen }) => {
    enter('Requesting');
    effect = await step(`Request ${action}`, {
      // An API server that does not answer is waited for.
      limitMs: WAIT_LIMIT_MS,
      run: async ({ summary, note }) => {
        const made = await controllerActivities(summary).performTrigger(trigger);
        note(made.message);
        return made;
      },
    });
    enter('Awaiting');
    end = await step('AwaitOutcome', {
      limitMs: WAIT_LIMIT_MS,
      run: (round) => outcome(seen, { trigger, effect }, round),
    });
  });
  const { message: _, ...made } = effect;
  return { ...result, ...made, ...end };
}

/** Looks until it is done. @throws what it failed of, DeadlineExceeded */
const outcome = async (
  seen: Operation['seen'],
  request: { trigger: Triggered; effect: TriggerEffect },
  round: Round,
): Promise<TriggerEnd> => {
  const since = now();
  for (let look = 1, quiet = 0; ; look += 1) {
    const version = seen.version();
    const summary = look === 1 ? round.summary : `${round.summary}, look ${look}`;
    const progress = await controllerActivities(summary).observeTrigger(request);
    if (progress.state === 'failed') {
      // It is the operation's end, whatever its kind: asking again is the caller's to do.
      throw ApplicationFailure.create({ ...progress.failure, nonRetryable: true });
    }
    if (progress.state === 'succeeded') {
      const { state: _, ...end } = progress;
      round.trouble(undefined);
      round.note(end.message);
      return end;
    }
    round.trouble(progress.trouble);
    if (msUntil(now(), since) >= WAIT_LIMIT_MS) {
      const last = progress.trouble?.message ?? 'nothing says what it waits for.';
      throw found('DeadlineExceeded', `waited a day in vain; last: ${last}`);
    }
    await seen.change(version, LOOK_AFTER_MS[quiet] ?? LOOK_EVERY_MS, 'something changes');
    quiet = seen.version() > version ? 0 : quiet + 1;
  }
};
