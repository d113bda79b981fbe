import { z } from 'zod';
import { Refusal } from './refusal.ts';

const body = z.object({ unfreezeTimeout: z.string().optional() }).optional();

/** Seconds of the units of Go's durations. */
const UNITS: Record<string, number> = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 };

/** A Go duration ("5m0s", "1h30m", "0") in seconds; undefined: it is none. */
export const goDuration = (text: string): number | undefined => {
  if (text === '0') return 0;
  if (!/^([0-9]+(\.[0-9]*)?(h|m|s|ms|us|µs|ns))+$/.test(text)) return undefined;
  return [...text.matchAll(/([0-9.]+)([a-zµ]+)/g)].reduce(
    (sum, [, value, unit]) => sum + Number(value) * (UNITS[unit ?? ''] ?? 0),
    0,
  );
};

/**
 * After how many seconds a frozen guest thaws by itself, by the body of KubeVirt's freeze, in the launcher's words: 0 is its default, less than 0 never.
 * @throws Refusal
 */
export const thawAfterSeconds = (value: unknown): number => {
  const parsed = body.safeParse(value ?? undefined);
  const asked = parsed.data?.unfreezeTimeout;
  if (parsed.success && asked === undefined) return 0;
  const seconds = asked === undefined ? undefined : goDuration(asked);
  if (seconds === undefined) throw new Refusal(400, 'unfreezeTimeout: must be a duration such as "5m0s"');
  // To KubeVirt no time at all means that nobody but the caller thaws.
  return seconds === 0 ? -1 : seconds;
};
