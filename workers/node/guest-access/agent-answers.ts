import { z } from 'zod';
import type { FileSystem, GuestAgentInfo, GuestUser } from '../../../api/kubevirt/types.ts';

/** Answers of the guest agent as KubeVirt's objects. What does not parse is left out: guests tell what they like. */

const text = z.string().max(4_096);
const optional = <T extends z.ZodType>(schema: T) => z.optional(schema).catch(undefined);

const command = z.object({ name: text, enabled: z.boolean() });
const info = z.object({
  version: optional(text),
  hostname: optional(text),
  timezone: optional(text),
  fsFreezeStatus: optional(text),
  os: optional(z.record(z.string(), text)),
  supportedCommands: optional(z.array(command).max(1_000)),
});

const user = z.object({ user: text, domain: optional(text), 'login-time': optional(z.number()) });
const filesystem = z.object({
  name: text,
  mountpoint: text,
  type: text,
  'used-bytes': optional(z.number()),
  'total-bytes': optional(z.number()),
  disk: optional(z.array(z.object({ serial: optional(text), 'bus-type': text })).max(256)),
});

const each = <T, R>(answer: unknown, schema: z.ZodType<T>, use: (value: T) => R): R[] =>
  (Array.isArray(answer) ? answer : []).flatMap((entry) => {
    const parsed = schema.safeParse(entry);
    return parsed.success ? [use(parsed.data)] : [];
  });

const defined = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as never;

/** `guest-get-users`. */
export const toUsers = (answer: unknown): GuestUser[] =>
  each(answer, user, (one) => defined({ userName: one.user, domain: one.domain, loginTime: one['login-time'] }));

/** `guest-get-fsinfo`. */
export const toFilesystems = (answer: unknown): FileSystem[] =>
  each(answer, filesystem, (one) => ({
    diskName: one.name,
    mountPoint: one.mountpoint,
    fileSystemType: one.type,
    usedBytes: one['used-bytes'] ?? 0,
    totalBytes: one['total-bytes'] ?? 0,
    disk: (one.disk ?? []).map((disk) => defined({ serial: disk.serial, busType: disk['bus-type'] })),
  }));

/** What the launcher knows of the guest, with its users and file systems. */
export const toGuestInfo = (known: unknown, users: unknown, filesystems: unknown): GuestAgentInfo => {
  const { version, hostname, timezone, fsFreezeStatus, os, supportedCommands } = info.parse(known);
  return defined({
    guestAgentVersion: version,
    supportedCommands,
    hostname,
    os,
    timezone,
    userList: toUsers(users),
    fsInfo: { disks: toFilesystems(filesystems) },
    fsFreezeStatus,
  });
};
