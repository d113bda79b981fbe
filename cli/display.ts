import ora from 'ora';

/** What is going on: `headline` makes a line of its own wherever lines stay; `detail` may change many times a second. */
export interface Shown {
  headline: string;
  detail?: string;
}

/** Tells a person who waits how far it is: on a terminal one line that changes, elsewhere plain lines. */
export interface Display {
  show(now: Shown): void;
  /** Ends it. */
  succeed(text: string): void;
  fail(text: string): void;
}

/** Without a terminal: a line whenever the headline changes, and one at least this often, in ms. */
const A_LINE_EVERY_MS = 5_000;

/** Shown on standard error, so that standard output holds results only. A terminal that knows no width (of `script`, for example) is taken as none. */
export const openDisplay = (stream: NodeJS.WriteStream = process.stderr): Display =>
  stream.isTTY && stream.columns > 0 ? onTerminal(stream) : inLines((line) => stream.write(`${line}\n`));

const onTerminal = (stream: NodeJS.WriteStream): Display => {
  const spinner = ora({ stream, discardStdin: false }).start();
  return {
    show: (now) => void (spinner.text = textOf(now)),
    succeed: (text) => void spinner.succeed(text),
    fail: (text) => void spinner.fail(text),
  };
};

/** Plain lines. */
export const inLines = (write: (line: string) => void, clock: () => number = Date.now): Display => {
  let headline: string | undefined;
  let writtenAt = 0;
  return {
    show: (now) => {
      if (now.headline === headline && clock() - writtenAt < A_LINE_EVERY_MS) return;
      [headline, writtenAt] = [now.headline, clock()];
      write(textOf(now));
    },
    succeed: write,
    fail: write,
  };
};

const textOf = ({ headline, detail }: Shown): string => (detail === undefined ? headline : `${headline}: ${detail}`);

/** "█████░░░░░" for a share of 0.5 of ten columns. */
export function bar(share: number, columns = 24): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * columns);
  return '█'.repeat(full) + '░'.repeat(columns - full);
}

/** Of tables for people: no colours, and no rules between rows. */
export const TABLE_STYLE = { head: [], border: [], compact: true };
