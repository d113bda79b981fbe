import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DOMAIN_ENDS } from '../../api/launcher/reports.ts';
import { migrationRecords } from '../migration/record.ts';
import type { MigrationRecords } from '../migration/record.ts';

const remembered = z.object({
  /** Starts of this launcher in this Pod, the present one included. */
  epoch: z.number().int().positive(),
  /** Highest epoch of the run token seen. */
  tokenEpoch: z.number().int().nonnegative().optional(),
  /** Host name of the guest, for DHCP. */
  hostname: z.string().optional(),
  /** The domain has run in this Pod. */
  started: z.boolean(),
  /** Set by the first request to stop: from then on no domain is started. Milliseconds since 1970. */
  shutdownDeadline: z.number().optional(),
  /** Signal that the guest was last sent and did not refuse. */
  signalled: z.enum(['agent', 'acpi']).optional(),
  /** The guest was seen going down in good order; QEMU's end follows. */
  wentDown: z.boolean().optional(),
  /** libvirtd or we were away after the guest had been signalled: QEMU may have ended in good order without a witness. */
  unwatched: z.boolean().optional(),
  /** We destroy, or have destroyed, the domain: why. */
  destroying: z.enum(['destroyedAtDeadline', 'killed']).optional(),
  /** How the domain ended. A launcher runs a domain once: nothing is started after it. */
  end: z.enum(DOMAIN_ENDS).optional(),
  /** When the guest's file systems, which are frozen, are thawed. Milliseconds since 1970. */
  thawAt: z.number().optional(),
  /** Migrations that this launcher took part in. */
  migrations: migrationRecords.optional(),
});
export type Remembered = z.infer<typeof remembered>;

const FILE = 'launcher.json';

/** What the launcher must know again after it was killed, in the Pod's state volume. Every change is on disk before it counts. */
export class Memory {
  readonly #file: string;
  #now: Remembered;

  private constructor(file: string, now: Remembered) {
    this.#file = file;
    this.#now = now;
  }

  /** Reads what was left behind and begins the next epoch. @throws Error when the file is damaged: order could not be kept */
  static open(directory: string): Memory {
    const file = join(directory, FILE);
    const before: Remembered = existsSync(file)
      ? remembered.parse(JSON.parse(readFileSync(file, 'utf8')))
      : { epoch: 0, started: false };
    const memory = new Memory(file, before);
    memory.update({ epoch: before.epoch + 1 });
    memory.lostSight();
    return memory;
  }

  get now(): Readonly<Remembered> {
    return this.#now;
  }

  /** Libvirt's events may have been missed. */
  lostSight(): void {
    if (this.#now.signalled !== undefined && !this.#now.unwatched) this.update({ unwatched: true });
  }

  /** Remembers a migration, and in the same step what else is true with it. */
  recordMigration(uid: string, record: MigrationRecords[string], change: Partial<Remembered> = {}): void {
    this.update({ ...change, migrations: { ...this.#now.migrations, [uid]: record } });
  }

  update(change: Partial<Remembered>): void {
    this.#now = { ...this.#now, ...change };
    writeAtomically(this.#file, JSON.stringify(this.#now));
  }
}

/** Replaces a file in one step: a reader, or a launcher started after a crash, sees the old or the new text, never a part. */
export function writeAtomically(file: string, text: string): void {
  const next = `${file}.next`;
  writeFileSync(next, text);
  renameSync(next, file);
}
