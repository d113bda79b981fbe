import { homedir } from 'node:os';
import { join } from 'node:path';
import { versions } from './versions.ts';
import type { Versions } from './versions.ts';

/** What every step of the local set-up is given. Directories are absolute; they need not exist yet. */
export interface Context {
  /** The repository. */
  readonly root: string;
  /** What was downloaded or built, one folder per thing and version: may be deleted at any time while nothing runs. */
  readonly cacheDir: string;
  /** What the running cluster wrote: etcd's and Temporal's data, keys, kubeconfigs, logs. */
  readonly stateDir: string;
  readonly versions: Versions;
  /** Shows one line of progress beside the step that is under way. */
  readonly report: (line: string) => void;
}

/** One step of the set-up. A step that finds its work done returns at once. */
export interface Step {
  readonly title: string;
  readonly run: (ctx: Context) => Promise<void>;
  /** Why the step has nothing to do, or undefined. Cheap: at most a few milliseconds. */
  readonly skip?: (ctx: Context) => Promise<string | undefined>;
  /** One sentence on what to try when the step fails. */
  readonly remedy: string;
}

const xdg = (name: string, fallback: string): string =>
  join(process.env[name] ?? join(homedir(), fallback), 'virtflow');

export const createContext = (report: (line: string) => void = () => {}): Context => ({
  root: join(import.meta.dirname, '../..'),
  cacheDir: xdg('XDG_CACHE_HOME', '.cache'),
  stateDir: xdg('XDG_STATE_HOME', '.local/state'),
  versions,
  report,
});
