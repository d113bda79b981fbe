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
 * What would show two active domains of one VM: a value seen twice, a counter that goes back, or two boots that take turns.
 * @returns one sentence per violation
 */
export function violations(readings: readonly Reading[]): string[] {
  const found: string[] = [];
  const last = new Map<string, Reading>();
  let current: string | undefined;
  for (const reading of readings) {
    const before = last.get(reading.boot);
    if (before && reading.counter <= before.counter)
      found.push(
        `boot ${reading.boot}: counter ${reading.counter} at ${reading.at} after ${before.counter} at ${before.at} (${before.source}, ${reading.source})`,
      );
    if (before && current !== reading.boot)
      found.push(`boot ${reading.boot} at ${reading.at} goes on after boot ${current} had begun`);
    last.set(reading.boot, reading);
    current = reading.boot;
  }
  return found;
}
