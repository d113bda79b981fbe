import { open, type FileHandle } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { SERIAL_LOG } from '../../../api/launcher/paths.ts';
import type { PodProcess } from '../../../deploy/local/pod-processes.ts';
import { qemuProcesses } from './processes.ts';
import { parseReadings, violations, type Reading } from './readings.ts';

const POLL_MS = 20;
const SCAN_EVERY = 10;
const CHUNK = 1 << 16;
/** /var/run is a link to /run, and an absolute link would be followed from our own root. */
const LOG_IN_POD = SERIAL_LOG.replace(/^\/var\/run/, '/run');

/** The guest kernel's last words when it was shut down in an orderly way. */
const POWER_DOWN = 'reboot: Power down';

interface Console {
  source: string;
  /** The file, whatever it is called: QEMUs that follow one another in a Pod write to the same one. */
  identity: string;
  file: FileHandle;
  offset: number;
  rest: string;
}

export interface RecorderOptions {
  mayMigrate?: boolean;
  /** Between two looks at the consoles. */
  pollMs?: number;
  /** Where the console log of a QEMU process is; absent: where launchers have it. */
  logOf?: (qemu: PodProcess) => string;
}

const logInPod = ({ pid }: PodProcess): string => `/proc/${pid}/root${LOG_IN_POD}`;

/**
 * Observes a VM from outside virtflow: reads the serial console logs of all its QEMU processes on both nodes as they grow, and counts the
 * processes. The guest must run with `counter=ttyS0`.
 */
export class Recorder {
  readonly readings: Reading[] = [];
  /** A guest has shut itself down, in the time of the observation or before. */
  poweredDown = false;
  readonly #overlaps: string[] = [];
  readonly #consoles = new Map<number, Console>();
  readonly #vm: { namespace: string; name: string };
  readonly #pollMs: number;
  readonly #mayMigrate: boolean;
  readonly #logOf: (qemu: PodProcess) => string;
  #stopped = false;
  #running: Promise<void>;

  /** While a guest may migrate a second QEMU is no offence, as long as its guest does not count at the same time. */
  constructor(namespace: string, name: string, options: RecorderOptions = {}) {
    const { mayMigrate = false, pollMs = POLL_MS, logOf = logInPod } = options;
    this.#logOf = logOf;
    this.#vm = { namespace, name };
    this.#mayMigrate = mayMigrate;
    this.#pollMs = pollMs;
    this.#running = this.#run();
  }

  /** The guest's last boot, once it has counted. */
  get boot(): string | undefined {
    return this.readings.at(-1)?.boot;
  }

  /** How often the guest was booted. */
  get boots(): number {
    return new Set(this.readings.map(({ boot }) => boot)).size;
  }

  /** Ends the observation. @returns every sign of two active domains; empty is good */
  async stop(): Promise<string[]> {
    this.#stopped = true;
    await this.#running;
    for (const { file } of new Set(this.#consoles.values())) await file.close();
    return [...this.#overlaps, ...violations(this.readings)];
  }

  async #run(): Promise<void> {
    for (let round = 0; !this.#stopped; round++) {
      if (round % SCAN_EVERY === 0) await this.#scan();
      await this.#readAll();
      await pause(this.#pollMs);
    }
  }

  /**
   * The newest console first, so that what an older one holds when its turn comes is all that its guest had said before the newer one spoke; then
   * taken in the order in which they were made.
   */
  async #readAll(): Promise<void> {
    const consoles = [...new Set(this.#consoles.values())];
    const batches: Reading[][] = [];
    for (const console of consoles.reverse()) batches.unshift(await this.#read(console));
    this.readings.push(...batches.flat());
  }

  async #scan(): Promise<void> {
    const processes = await qemuProcesses(this.#vm.namespace, this.#vm.name);
    if (processes.length > 1 && !this.#mayMigrate)
      this.#overlaps.push(`QEMU processes ${processes.map((p) => p.pid).join(', ')} at the same time at ${Date.now()}`);
    for (const process of processes) {
      const { pid } = process;
      if (this.#consoles.has(pid)) continue;
      const file = await open(this.#logOf(process)).catch(() => undefined);
      if (file) this.#consoles.set(pid, await this.#consoleOf(pid, file));
    }
  }

  async #consoleOf(pid: number, file: FileHandle): Promise<Console> {
    const { dev, ino } = await file.stat();
    const identity = `${dev}:${ino}`;
    const known = [...this.#consoles.values()].find((console) => console.identity === identity);
    if (known === undefined) return { source: `qemu ${pid}`, identity, file, offset: 0, rest: '' };
    await file.close();
    return known;
  }

  async #read(console: Console): Promise<Reading[]> {
    const taken: Reading[] = [];
    for (;;) {
      const { bytesRead, buffer } = await console.file.read(Buffer.alloc(CHUNK), 0, CHUNK, console.offset);
      if (bytesRead === 0) return taken;
      console.offset += bytesRead;
      const text = console.rest + buffer.toString('latin1', 0, bytesRead);
      this.poweredDown ||= text.includes(POWER_DOWN);
      const { readings, rest } = parseReadings(text, console.source, Date.now());
      console.rest = rest;
      taken.push(...readings);
    }
  }
}
