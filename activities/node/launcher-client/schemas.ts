import { z } from 'zod';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { DOMAIN_ENDS, DOMAIN_STATES } from '../../../api/launcher/reports.ts';

const text = z.string();
const optionalText = z.exactOptional(text);
const count = z.number().int().nonnegative();

const guestInfo = z.object({
  connected: z.boolean(),
  version: optionalText,
  missingCommands: z.exactOptional(z.array(text)),
  hostname: optionalText,
  timezone: optionalText,
  os: z.exactOptional(
    z.object({
      id: optionalText,
      name: optionalText,
      prettyName: optionalText,
      version: optionalText,
      versionId: optionalText,
      kernelRelease: optionalText,
      kernelVersion: optionalText,
      machine: optionalText,
    }),
  ),
  interfaces: z.exactOptional(z.array(z.object({ name: text, mac: optionalText, addresses: z.array(text) }))),
  fsFreezeStatus: z.exactOptional(z.literal('frozen')),
});

const hardware = z.object({
  machine: optionalText,
  memoryBytes: z.exactOptional(count),
  disks: z.exactOptional(z.record(text, z.object({ target: text, size: z.exactOptional(count) }))),
  interfaces: z.exactOptional(
    z.record(text, z.object({ mac: optionalText, queues: z.exactOptional(count), link: optionalText })),
  ),
  selinuxContext: optionalText,
});

/** A launcher's report as it comes off the wire or out of its state file; `node` is filled in by the reader. Unknown fields are dropped. */
export const domainReport: z.ZodType<DomainReport> = z.object({
  vmi: z.object({ namespace: text, name: text, uid: text.min(1) }),
  podUid: text,
  node: text.default(''),
  sequence: z.object({ epoch: count, n: count }),
  at: z.iso.datetime(),
  state: z.enum(DOMAIN_STATES),
  reason: optionalText,
  pausedBy: z.exactOptional(z.enum(['user', 'ioError', 'migration'])),
  migrationUid: optionalText,
  end: z.exactOptional(z.enum(DOMAIN_ENDS)),
  tokenEpoch: z.exactOptional(count),
  deadline: z.exactOptional(z.iso.datetime()),
  agent: guestInfo,
  hardware: z.exactOptional(hardware),
});

export const handshakeReply = z.object({
  protocol: count,
  release: text,
  namespace: text,
  name: text,
  vmiUid: text.min(1),
  podUid: text.min(1),
  launcherEpoch: count,
});

export type Handshake = z.infer<typeof handshakeReply>;

export const domainReply = z.object({ reportJson: text });

/** Parses and checks a report. @throws SyntaxError or ZodError */
export const parseReport = (json: string): DomainReport => domainReport.parse(JSON.parse(json));
