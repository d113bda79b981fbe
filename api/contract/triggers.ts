import type { UpdateDefinition } from '@temporalio/common';
import type { OptionsOf } from '../subresources/options.ts';
import type { FailureInfo } from './failures.ts';
import type { EntityStatus } from './entities.ts';
import { update } from './messages.ts';
import type { OperationInput, OperationResult } from './operations.ts';
import type { ObjectRef } from './refs.ts';

/**
 * Programmatic triggers: Temporal Updates on a VM's workflow. The entity accepts or refuses at once, by the rules of the API server's front door as far
 * as it knows the VM; an operation of its own then makes the change of objects that a user would make, and its result is the outcome.
 */
export const TRIGGER_ACTIONS = ['start', 'stop', 'restart', 'migrate', 'retry'] as const;
export type TriggerAction = (typeof TRIGGER_ACTIONS)[number];

/** Options of each action: those of the bodies of `subresources.kubevirt.io`. */
export type TriggerOptions<A extends TriggerAction> = A extends 'retry'
  ? Record<never, never>
  : A extends 'start' | 'stop' | 'restart' | 'migrate'
    ? Omit<OptionsOf<A>, 'dryRun'>
    : never;

export interface Trigger {
  /** Idempotency key: the same key for the same VM and action is the same operation, however often it is asked for. */
  key: string;
  /** TriggerOptions of the action. */
  options?: object;
}

/** What a key may be: it is a part of the operation's id. */
export const TRIGGER_KEY = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,62}$/;

export interface TriggerAccepted {
  /** Workflow id of the operation; its result is a TriggerResult. */
  operationId: string;
}

/**
 * Why an Update is refused: the failure's type and message. `NotYet`: the VM's workflow has just begun and is still looking at the VM; the same may be
 * asked again in a moment.
 */
export interface TriggerRefusal {
  type: 'Refused' | 'NotYet';
  message: string;
}

/** The Updates of a VM's workflow, by their names. Refused with a TriggerRefusal. */
export const TRIGGERS: Record<TriggerAction, UpdateDefinition<TriggerAccepted, [Trigger]>> = {
  start: update('start'),
  stop: update('stop'),
  restart: update('restart'),
  migrate: update('migrate'),
  retry: update('retry'),
};

/** Workflow id of the operation behind a trigger. It stands for one request for as long as Temporal keeps the operation (the namespace's retention). */
export const triggerId = (vm: Pick<ObjectRef, 'uid'>, action: TriggerAction, key: string): string =>
  `trigger/${vm.uid}/${action}/${key}`;

/** Annotation of a VMIM: id of the operation that created it. */
export const TRIGGERED_BY_ANNOTATION = 'virtflow.io/triggered-by';

/** Input of a trigger's operation; `vmi.uid` is that of the VM's instance when it was accepted, '' if there was none. */
export interface TriggerInput extends OperationInput {
  vm: { name: string; uid: string };
  action: TriggerAction;
  key: string;
  options: object;
}

/** What an activity of a trigger's operation is told. */
export interface Triggered {
  operationId: string;
  action: TriggerAction;
  options: object;
  vm: ObjectRef;
  /** Uid of the instance that it is about; '': there was none. */
  instance: string;
}

/** What the trigger has made of objects or operations. */
export interface TriggerEffect {
  /** In words. */
  message: string;
  /** The VMIM that was created. */
  vmim?: ObjectRef;
  /** Id of the operation that was retried. */
  retried?: string;
}

/** How far it is. */
export type TriggerProgress =
  | { state: 'underWay'; trouble?: FailureInfo }
  | ({ state: 'succeeded' } & TriggerEnd)
  | { state: 'failed'; failure: FailureInfo };

export interface TriggerEnd {
  /** What is true now, in words. */
  message: string;
  /** Uid of the instance that runs, and its node. */
  instance?: string;
  node?: string;
}

/** Result of a trigger's operation. One that did not come to its end fails, with an OperationStatus as details. */
export type TriggerResult = OperationResult & TriggerEnd & Omit<TriggerEffect, 'message'>;

/** A trigger as its VM's entity knows it. */
export type KnownTrigger = NonNullable<EntityStatus['triggers']>[number];
