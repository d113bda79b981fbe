/** Dependencies between kernel modules: path below /lib/modules/VERSION, as depmod writes them. */
export type ModuleDependencies = ReadonlyMap<string, readonly string[]>;

/** Reads a `modules.dep` as depmod writes it: `path: dependency dependency …` per line, nearest dependency first. */
export const parseModulesDep = (text: string): ModuleDependencies =>
  new Map(
    text
      .split('\n')
      .filter((line) => line.includes(':'))
      .map((line) => {
        const [path = '', rest = ''] = line.split(':');
        return [path, rest.split(' ').filter((word) => word !== '')];
      }),
  );

/** The kernel's name of a module file: hyphens and underscores are the same to it. */
const nameOf = (path: string): string => path.replace(/^.*\//, '').replace(/\.ko$/, '').replaceAll('-', '_');

/**
 * Paths of the named modules and all they need, in an order in which insmod takes them.
 * @throws Error when the kernel has no module of a name
 */
export function loadOrder(dependencies: ModuleDependencies, names: readonly string[]): string[] {
  const order = new Set<string>();
  const add = (path: string): void => {
    for (const dependency of dependencies.get(path)?.toReversed() ?? []) add(dependency);
    order.add(path);
  };
  for (const name of names) {
    const path = [...dependencies.keys()].find((key) => nameOf(key) === nameOf(name));
    if (path === undefined) throw new Error(`the kernel package has no module ${name}`);
    add(path);
  }
  return [...order];
}
