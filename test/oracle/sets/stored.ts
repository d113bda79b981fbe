/** A stored object, as both sides write it. */
export interface Stored {
  metadata?: {
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    finalizers?: string[];
  };
  spec?: unknown;
  status?: unknown;
}

/** Structures that programs in Go cannot leave out: empty means absent. */
const STRUCTURES = [
  'requests',
  'limits',
  'devices',
  'resources',
  'acpi',
  'guestOSInfo',
  'metadata',
  'propagationMethod',
  'source',
];

/** JSON without what programs in Go leave out, or always write: empty lists and texts, zeros, null, and structures without members. */
export function asGoWrites(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => asGoWrites(item));
  if (value === null || typeof value !== 'object')
    return value === '' || value === '0' || value === 0 || value === null ? undefined : value;
  const members = Object.entries(value)
    .map(([name, member]) => [name, asGoWrites(member, name)] as const)
    .filter(([, member]) => member !== undefined);
  return members.length === 0 && STRUCTURES.includes(key) ? undefined : Object.fromEntries(members);
}
