import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { exclusive } from '../domain-manager/exclusive.ts';
import type { LibvirtDomain } from '../domain-manager/libvirt-domain.ts';
import { CommandRefused } from '../domain-manager/refusal.ts';

const FILE = 'screen.png';
/** Relative movements: there and back. */
const NUDGE = [1, -1].map((value) => ({ type: 'rel', data: { axis: 'x', value } }));

/** The guest's display. */
export class Screen {
  readonly #domain: LibvirtDomain;
  readonly #file: string;
  readonly #inOrder = exclusive();

  /** @param directory to which QEMU writes pictures */
  constructor(domain: LibvirtDomain, directory: string) {
    this.#domain = domain;
    this.#file = join(directory, FILE);
  }

  /** A picture of the display, PNG. @throws CommandRefused `precondition` when there is none */
  shot({ movePointer }: { movePointer: boolean }): Promise<Buffer> {
    return this.#inOrder(async () => {
      await this.#domain.run(async (client, domain) => {
        if (!(await client.xml(domain)).includes('<graphics ')) {
          throw new CommandRefused('precondition', 'the VMI has no display: autoattachGraphicsDevice is false');
        }
        if (movePointer) await client.monitorCommand(domain, 'input-send-event', { events: NUDGE });
        await client.monitorCommand(domain, 'screendump', { filename: this.#file, format: 'png' });
      });
      try {
        return await readFile(this.#file);
      } finally {
        await rm(this.#file, { force: true });
      }
    });
  }
}
