import { z } from 'zod';
import { parseInstance } from '../../api/schemas/index.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { HostFacts } from '../../api/launcher/host-facts.ts';
import type {
  FinalizeRequest,
  MigrateRequest,
  MigrationRef,
  PrepareTargetRequest,
} from '../../api/launcher/migration.ts';
import type { ExecRequest } from '../guest/exec.ts';
import { CommandRefused } from '../domain-manager/refusal.ts';
import { options } from '../migration/record.ts';

const numbers = z.array(z.number());
const optionalText = z.exactOptional(z.string());

const hostFacts: z.ZodType<HostFacts> = z.object({
  useEmulation: z.boolean(),
  kvmAvailable: z.boolean(),
  memBalloonStatsPeriod: z.number(),
  serialConsoleLog: z.boolean(),
  freePageReporting: z.boolean(),
  bochsForEFIGuests: z.boolean(),
  cpuSet: numbers,
  isBlockVolume: z.record(z.string(), z.boolean()),
  domainAttachment: z.record(z.string(), z.enum(['tap', 'managedTap', 'none'])),
  mtu: z.exactOptional(z.number()),
  macAddresses: z.exactOptional(z.record(z.string(), z.string())),
  backingFormats: z.exactOptional(z.record(z.string(), z.enum(['raw', 'qcow2']))),
  numaCells: z.exactOptional(
    z.array(z.object({ id: z.number(), cpus: z.array(z.object({ id: z.number(), siblings: numbers })) })),
  ),
  smbios: z.exactOptional(
    z.object({
      manufacturer: optionalText,
      family: optionalText,
      product: optionalText,
      sku: optionalText,
      version: optionalText,
    }),
  ),
});

/** @throws CommandRefused `invalid` naming what is wrong */
export const readHostFacts = (json: string): HostFacts => read('host_json', json, (value) => hostFacts.parse(value));

/** @throws CommandRefused `invalid` naming what is wrong */
export const readVmi = (json: string): VirtualMachineInstance => read('vmi_json', json, parseInstance);

const migrationUid = z.string().min(1);
const disk = z.object({ volume: z.string().min(1), size: z.number().int().positive() });
const prepareTarget: z.ZodType<PrepareTargetRequest> = z.object({
  migrationUid,
  tokenEpoch: z.number().int(),
  vmi: z.unknown(),
  host: hostFacts,
  disks: z.array(disk),
});
const migrate: z.ZodType<MigrateRequest> = z.object({ migrationUid, options, targetHost: hostFacts });
const ref: z.ZodType<MigrationRef> = z.object({ migrationUid });
const exec: z.ZodType<ExecRequest> = z.object({
  command: z.string().min(1),
  args: z.array(z.string()),
  timeoutSeconds: z.number().int().positive(),
});
const finalize: z.ZodType<FinalizeRequest> = z.object({ migrationUid, tokenEpoch: z.number().int() });

/** Readers of the `json` of the migration commands. @throws CommandRefused `invalid` naming what is wrong */
export const readPrepareTarget = (json: string): PrepareTargetRequest & { vmi: VirtualMachineInstance } =>
  read('json', json, (value) => {
    const request = prepareTarget.parse(value);
    return { ...request, vmi: parseInstance(request.vmi) };
  });
export const readMigrate = (json: string): MigrateRequest => read('json', json, (value) => migrate.parse(value));
export const readMigrationUid = (json: string): string => read('json', json, (value) => ref.parse(value)).migrationUid;
export const readFinalize = (json: string): FinalizeRequest => read('json', json, (value) => finalize.parse(value));

/** A command; undefined: a sign of life is asked for. @throws CommandRefused `invalid` naming what is wrong */
export const readProbe = (json: string): ExecRequest | undefined =>
  read('json', json, (value) => exec.or(z.strictObject({}).transform(() => undefined)).parse(value));

function read<T>(field: string, json: string, parse: (value: unknown) => T): T {
  try {
    return parse(JSON.parse(json));
  } catch (error) {
    const why =
      error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : String(error);
    throw new CommandRefused('invalid', `${field}: ${why}`, error);
  }
}
