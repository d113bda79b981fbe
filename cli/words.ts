/** Time between two RFC 3339 times, for people: "0.4 s", "12 s", "3 min 5 s". */
export const duration = (from: string, to: string): string => milliseconds(Date.parse(to) - Date.parse(from));

/** A length of time, for people: "0.4 s", "12 s", "3 min 5 s". */
export function milliseconds(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  const total = Math.round(ms / 1000);
  return total < 60 ? `${total} s` : `${Math.floor(total / 60)} min ${total % 60} s`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Bytes, for people: "512 MiB", "1.5 GiB". */
export function bytes(count: number): string {
  const power = count < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(count) / 10));
  const value = count / 1024 ** power;
  return `${power === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${UNITS[power] ?? ''}`;
}

/** The command a reader can type next: "virtflow cancel web-1 -n prod". */
export const command = (verb: string, { namespace, name }: { namespace: string; name: string }): string =>
  `virtflow ${verb} ${name}${namespace === 'default' ? '' : ` -n ${namespace}`}`;

/** A sentence's end taken off, so that it can go on. */
export const clause = (text: string): string => text.trim().replace(/\.+$/, '');

/** "3 passes", "1 pass". */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
