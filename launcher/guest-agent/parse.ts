import { z } from 'zod';
import type { GuestInfo } from '../../api/launcher/reports.ts';

/** Answers of the QEMU guest agent; fields as in its own protocol description. Whatever does not parse is left out: guests tell what they like. */
const text = z.string().max(1_024);
const optionalText = text.optional();

const info = z.object({
  version: text,
  supported_commands: z
    .array(z.object({ name: text, enabled: z.boolean() }))
    .max(1_024)
    .default([]),
});
const hostName = z.object({ 'host-name': text });
const timezone = z.object({ zone: optionalText, offset: z.number() });
const osInfo = z.object({
  id: optionalText,
  name: optionalText,
  'pretty-name': optionalText,
  version: optionalText,
  'version-id': optionalText,
  'kernel-release': optionalText,
  'kernel-version': optionalText,
  machine: optionalText,
});
const interfaces = z
  .array(
    z.object({
      name: text,
      'hardware-address': optionalText,
      'ip-addresses': z
        .array(z.object({ 'ip-address': text }))
        .max(256)
        .default([]),
    }),
  )
  .max(256);

type Part = Omit<GuestInfo, 'connected'>;

const defined = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as never;

const parser =
  <T>(schema: z.ZodType<T>, use: (value: T) => Part) =>
  (answer: unknown): Part => {
    const parsed = schema.safeParse(answer);
    return parsed.success ? use(parsed.data) : {};
  };

/** Commands without which an agent is of little use (KubeVirt's list). */
const REQUIRED = [
  'guest-ping',
  'guest-get-time',
  'guest-info',
  'guest-shutdown',
  'guest-network-get-interfaces',
  'guest-get-fsinfo',
  'guest-get-host-name',
  'guest-get-users',
  'guest-get-timezone',
  'guest-get-osinfo',
];

/** An agent that names no commands at all is not judged by them. */
const missing = (supported: string[]): Part => {
  const lacks = supported.length === 0 ? [] : REQUIRED.filter((command) => !supported.includes(command));
  return lacks.length === 0 ? {} : { missingCommands: lacks };
};

/** Agent commands that are polled, and what their answers tell. */
export const polled: Readonly<Record<string, (answer: unknown) => Part>> = {
  'guest-fsfreeze-status': parser(z.enum(['thawed', 'frozen']), (status) =>
    status === 'frozen' ? { fsFreezeStatus: status } : {},
  ),
  'guest-info': parser(info, ({ version, supported_commands: commands }) => ({
    version,
    ...missing(commands.flatMap(({ name, enabled }) => (enabled ? [name] : []))),
  })),
  'guest-get-host-name': parser(hostName, (answer) => ({ hostname: answer['host-name'] })),
  'guest-get-timezone': parser(timezone, ({ zone, offset }) =>
    zone === undefined ? {} : { timezone: `${zone}, ${offset}` },
  ),
  'guest-get-osinfo': parser(osInfo, (os) => ({
    os: defined({
      id: os.id,
      name: os.name,
      prettyName: os['pretty-name'],
      version: os.version,
      versionId: os['version-id'],
      kernelRelease: os['kernel-release'],
      kernelVersion: os['kernel-version'],
      machine: os.machine,
    }),
  })),
  'guest-network-get-interfaces': parser(interfaces, (list) => ({
    interfaces: list
      .filter(({ name }) => name !== 'lo')
      .map((entry) => ({
        ...defined({ name: entry.name, mac: entry['hardware-address'] }),
        addresses: entry['ip-addresses'].map((address) => address['ip-address']),
      })),
  })),
};
