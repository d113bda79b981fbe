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

/** What the scheduler adds on preemption and claims of devices: it says nothing that a person can act on. */
const SCHEDULERS_TAIL = /[.,]?\s*(no new claims to deallocate, )?preemption: .*$/s;

/** A message without what Kubernetes' scheduler adds to it. */
export const briefly = (message: string): string => message.replace(SCHEDULERS_TAIL, '');

/** The first sentence of a message: what is wrong, without what to do about it. */
export const firstSentence = (message: string): string => clause(message.split(/\.\s+(?=[A-Z])/)[0] ?? '');
