import fc from 'fast-check';

/** Manifests as people get them wrong: something missing, of another type, out of its bounds, said twice, moved to another place. */
type Step = string | number;

/** Paths of everything below the value. */
const pathsOf = (value: unknown, path: Step[] = []): Step[][] => {
  if (typeof value !== 'object' || value === null) return [path];
  const entries: [Step, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [...(path.length > 0 ? [path] : []), ...entries.flatMap(([key, member]) => pathsOf(member, [...path, key]))];
};

const at = (value: unknown, [step, ...rest]: Step[]): unknown =>
  step === undefined || typeof value !== 'object' || value === null
    ? value
    : at(new Map<Step, unknown>(Array.isArray(value) ? value.entries() : Object.entries(value)).get(step), rest);

/** The value with another one at the path; undefined takes it away. */
const changed = (value: unknown, [step, ...rest]: Step[], to: unknown): unknown => {
  if (step === undefined) return to;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? changed(item, rest, to) : item));
  if (typeof value !== 'object' || value === null) return value;
  const next = new Map<string, unknown>(Object.entries(value));
  next.set(String(step), changed(next.get(String(step)), rest, to));
  return Object.fromEntries(next);
};

const SCALARS: unknown[] = [
  ...[undefined, null, '', ' ', 'x', '-1', '0', '1Gi', 'A_b.c', 'é'.repeat(300)],
  ...[0, -1, 1, 1.5, 1e21, 65536, true, false],
];
const STRUCTURES: unknown[] = [[], {}, [{}], [null], ['x', 'x'], { x: 1 }, { name: 'x' }, [[{}]]];
/** What stands at the edge of a rule somewhere. */
const WORDS: unknown[] = [
  ...['1', '100m', '1.5', '4096Mi', '9Ei', '1e3', '-1Gi', '0x10', '2Mi', '1Ki', '3000M'],
  ...['virtio', 'sata', 'scsi', 'usb', 'none', 'host-passthrough', 'host-model', 'Nehalem', 'arm64', 's390x', 'pc'],
  ...['Always', 'LiveMigrate', 'Paused', 'auto', 'shared', 'supplementalPool', 'isa', 'hyperv', 'e1000e', 'require'],
  ...['0000:00:01.0', '0000:81:01.0', '02:00:00:00:00:01', '/a/../b', '/', 'a'.repeat(64), '\n', '<x>&"', '${x}'],
  ...[2, 16, 255, 256, 512, 4096, 65535, 2 ** 31, 2 ** 53],
];

/**
 * Manifests with one to three changes each: a replaced or removed value, one that stands elsewhere in the manifest, a member or item said twice.
 * @param bias how often a change takes a value that fits somewhere, rather than any: then more of them are accepted
 */
export const mutated = (sample: object, bias = 2): fc.Arbitrary<unknown> => {
  const paths = pathsOf(sample);
  const anyPath = fc.constantFrom(...paths.filter((path) => path.length > 2));
  const replaced = (value: fc.Arbitrary<unknown>) =>
    fc.tuple(anyPath, value).map(
      ([path, to]) =>
        (object: unknown) =>
          changed(object, path, to),
    );
  const lists = paths.filter((path) => Array.isArray(at(sample, path)));
  const doubled =
    lists.length === 0
      ? []
      : [
          fc.tuple(fc.constantFrom(...lists), fc.nat(9)).map(([path, index]) => (object: unknown) => {
            const list = at(object, path);
            return Array.isArray(list) && list.length > 0
              ? changed(object, path, [...(list as unknown[]), list[index % list.length]])
              : object;
          }),
        ];
  const change = fc.oneof(
    replaced(fc.constantFrom(...SCALARS)),
    replaced(fc.constantFrom(...STRUCTURES)),
    replaced(fc.jsonValue()),
    { arbitrary: replaced(fc.constantFrom(undefined)), weight: bias },
    { arbitrary: replaced(fc.constantFrom(...WORDS)), weight: bias },
    { arbitrary: replaced(anyPath.map((path) => at(sample, path))), weight: bias },
    ...doubled,
  );
  // Most manifests are wrong in one place.
  const changes = fc.oneof(
    { arbitrary: fc.tuple(change), weight: 3 },
    { arbitrary: fc.tuple(change, change), weight: 2 },
    { arbitrary: fc.tuple(change, change, change), weight: 1 },
  );
  return changes.map((steps) => steps.reduce<unknown>((object, make) => make(object), sample));
};
