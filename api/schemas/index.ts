import { z } from 'zod';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceReplicaSet,
} from '../kubevirt/types.ts';
import type { Instancetype, Preference } from '../instancetypes/types.ts';
import type { MigrationPolicy } from '../migration-policy/types.ts';
import { fieldIssues, issueText } from './issues.ts';
import type { FieldIssue } from './issues.ts';
import { instanceSpec } from './instance-spec.ts';
import { instancetype, preference } from './instancetype.ts';
import { migration } from './migration.ts';
import { migrationPolicy } from './migration-policy.ts';
import { replicaSet } from './replica-set.ts';
import { dataVolumeTemplates, volumeRequests } from './virtual-machine-storage.ts';
import { flag, metadata, present, quantity, text, texts, whole } from './primitives.ts';

/** An object from the API server carries a field of a wrong type. */
export class UnreadableObject extends Error {
  override readonly name = 'UnreadableObject';
  /** Every such field. */
  readonly issues: FieldIssue[];

  constructor(message: string, issues: FieldIssue[] = []) {
    super(message);
    this.issues = issues;
  }
}

const conditions = z.array(
  z.looseObject({ type: text, status: text, reason: text.optional(), message: text.optional() }),
);

const instance = z.looseObject({
  metadata,
  spec: instanceSpec,
  status: z
    .looseObject({
      phase: text.optional(),
      nodeName: text.optional(),
      activePods: texts.optional(),
      conditions: conditions.optional(),
      runtimeUser: whole.optional(),
      memory: z
        .looseObject({
          guestAtBoot: quantity.optional(),
          guestCurrent: quantity.optional(),
          guestRequested: quantity.optional(),
        })
        .optional(),
      volumeStatus: z.array(z.looseObject({ name: text, hotplugVolume: present.optional() })).optional(),
    })
    .optional(),
});

const matcher = z.looseObject({
  name: text.optional(),
  kind: text.optional(),
  revisionName: text.optional(),
  inferFromVolume: text.optional(),
  inferFromVolumeFailurePolicy: text.optional(),
});

/** A matcher as it was when its object was taken, and the copy of that. */
const statusReference = matcher.extend({
  controllerRevisionRef: z.looseObject({ name: text.optional() }).optional(),
});

const virtualMachine = z.looseObject({
  metadata,
  spec: z.looseObject({
    running: flag.optional(),
    runStrategy: text.optional(),
    template: z.looseObject({ metadata: metadata.optional(), spec: instanceSpec.optional() }),
    instancetype: matcher.optional(),
    preference: matcher.optional(),
    dataVolumeTemplates: dataVolumeTemplates.optional(),
  }),
  status: z
    .looseObject({
      printableStatus: text.optional(),
      conditions: conditions.optional(),
      stateChangeRequests: z
        .array(z.looseObject({ action: text, uid: text.optional(), data: texts.optional() }))
        .optional(),
      snapshotInProgress: text.optional(),
      restoreInProgress: text.optional(),
      memoryDumpRequest: z.looseObject({ claimName: text, phase: text }).optional(),
      volumeRequests: volumeRequests.optional(),
      instancetypeRef: statusReference.optional(),
      preferenceRef: statusReference.optional(),
    })
    .optional(),
});

/**
 * A VMI as it is read from the API server: known fields have their types, quantities are text, devices are there; unknown fields stay.
 * @throws UnreadableObject naming every field of a wrong type
 */
export const parseInstance = (object: unknown): VirtualMachineInstance =>
  // The schema covers what virtflow reads; the rest of the generated type is the API server's word.
  read('VirtualMachineInstance', instance, object) as VirtualMachineInstance;

/** A VM, likewise. @throws UnreadableObject naming every field of a wrong type */
export const parseVirtualMachine = (object: unknown): VirtualMachine =>
  read('VirtualMachine', virtualMachine, object) as VirtualMachine;

/** A VMIM, likewise. @throws UnreadableObject naming every field */
export const parseMigration = (object: unknown): VirtualMachineInstanceMigration =>
  read('VirtualMachineInstanceMigration', migration, object) as VirtualMachineInstanceMigration;

/** A replica set of VMIs, likewise. @throws UnreadableObject naming every field */
export const parseReplicaSet = (object: unknown): VirtualMachineInstanceReplicaSet =>
  read('VirtualMachineInstanceReplicaSet', replicaSet, object) as VirtualMachineInstanceReplicaSet;

/** A MigrationPolicy, likewise. @throws UnreadableObject naming every field */
export const parseMigrationPolicy = (object: unknown): MigrationPolicy =>
  read('MigrationPolicy', migrationPolicy, object) as MigrationPolicy;

/** An instance type of the cluster or of a namespace, likewise. @throws UnreadableObject naming every field */
export const parseInstancetype = (object: unknown): Instancetype =>
  read('Instance type', instancetype, object) as Instancetype;

/** A preference, likewise. @throws UnreadableObject naming every field */
export const parsePreference = (object: unknown): Preference => read('Preference', preference, object) as Preference;

const read = (kind: string, schema: z.ZodType, object: unknown): unknown => {
  const parsed = schema.safeParse(withoutNulls(object));
  if (parsed.success) return parsed.data;
  throw new UnreadableObject(
    `${kind}${nameOf(object)} cannot be read: ${issueText(parsed.error)}. Correct these fields.`,
    fieldIssues(parsed.error),
  );
};

/** To Kubernetes null is absent; Go programs write it, such as `creationTimestamp: null` in a template's metadata. */
const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutNulls(member)]));
};

const named = z.looseObject({ metadata: z.looseObject({ namespace: text.optional(), name: text }) });

const nameOf = (object: unknown): string => {
  const { data } = named.safeParse(object);
  return data === undefined ? '' : ` ${data.metadata.namespace ?? ''}/${data.metadata.name}`;
};
