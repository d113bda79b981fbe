/** Workflow time, RFC 3339. */
export const now = (): string => new Date().toISOString();

/** A point in time moved by milliseconds; RFC 3339. */
export const after = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString();

/** Milliseconds from `from` until `until`; negative when it has passed. */
export const msUntil = (until: string, from: string): number => Date.parse(until) - Date.parse(from);
