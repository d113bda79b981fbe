/** One value of a guest's counter, as an observer outside virtflow saw it. */
export interface Reading {
  /** Which QEMU's console it came from. */
  source: string;
  boot: string;
  counter: number;
  /** When the observer read it, in milliseconds. */
  at: number;
}

const LINE = /^([0-9a-f]{8}-[0-9a-f-]{27}) (\d+)$/;

/** Cuts console output into readings; other lines (kernel, shell) and lines cut short are skipped. `rest` is the unfinished last line. */
export function parseReadings(text: string, source: string, at: number): { readings: Reading[]; rest: string } {
  const lines = text.split('\n');
  const rest = lines.pop() ?? '';
  const readings = lines.flatMap((line) => {
    const match = LINE.exec(line.trim());
    return match ? [{ source, boot: match[1] ?? '', counter: Number(match[2]), at }] : [];
  });
  return { readings, rest };
}

/**
 * What would show two active domains of one VM: a value seen twice, a counter that goes back, two boots or two consoles that take turns.
 * @returns one sentence per violation
 */
export function violations(readings: readonly Reading[]): string[] {
  const found: string[] = [];
  const last = new Map<string, Reading>();
  /** Consoles that a guest has left. */
  const left = new Set<string>();
  let current: string | undefined;
  for (const reading of readings) {
    const before = last.get(reading.boot);
    if (before && reading.counter <= before.counter)
      found.push(
        `boot ${reading.boot}: counter ${reading.counter} at ${reading.at} after ${before.counter} at ${before.at} (${before.source}, ${reading.source})`,
      );
    if (before && current !== reading.boot)
      found.push(`boot ${reading.boot} at ${reading.at} goes on after boot ${current} had begun`);
    if (before && before.source !== reading.source) left.add(before.source);
    if (left.has(reading.source))
      found.push(
        `boot ${reading.boot}: ${reading.source} counts ${reading.counter} at ${reading.at} after its guest had gone`,
      );
    last.set(reading.boot, reading);
    current = reading.boot;
  }
  return found;
}

/** A guest that went on counting on another console: it has migrated. */
export interface Switchover {
  boot: string;
  from: string;
  to: string;
  /** Values that nobody saw: 0 when the first on the new console follows the last on the old one. */
  missed: number;
  /** Milliseconds between the two, as the observer saw them. */
  gap: number;
}

/** Where a boot's counter moved from one console to another, oldest first. */
export function switchovers(readings: readonly Reading[]): Switchover[] {
  return readings.flatMap((reading, index) => {
    const before = readings[index - 1];
    if (before === undefined || before.boot !== reading.boot || before.source === reading.source) return [];
    const missed = reading.counter - before.counter - 1;
    return [{ boot: reading.boot, from: before.source, to: reading.source, missed, gap: reading.at - before.at }];
  });
}
