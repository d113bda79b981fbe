import { z } from 'zod';
import { LAUNCHER_ENV } from '../api/launcher/paths.ts';

/** Who this launcher serves; set by the launcher Pod's manifest. */
export interface LauncherConfig {
  readonly vmi: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly podUid: string;
  /** From SIGTERM to destroy, in milliseconds. */
  readonly gracePeriodMs: number;
}

const text = z.string().min(1);
const environment = z.object({
  [LAUNCHER_ENV.namespace]: text,
  [LAUNCHER_ENV.name]: text,
  [LAUNCHER_ENV.uid]: text,
  [LAUNCHER_ENV.podUid]: text,
  [LAUNCHER_ENV.gracePeriod]: z.coerce.number().nonnegative(),
});

/** @throws Error naming the variables that are missing or malformed */
export function readConfig(env: Readonly<Record<string, string | undefined>>): LauncherConfig {
  const parsed = environment.safeParse(env);
  if (!parsed.success) throw new Error(`launcher environment: ${z.prettifyError(parsed.error)}`);
  const { data } = parsed;
  return {
    vmi: { namespace: data[LAUNCHER_ENV.namespace], name: data[LAUNCHER_ENV.name], uid: data[LAUNCHER_ENV.uid] },
    podUid: data[LAUNCHER_ENV.podUid],
    gracePeriodMs: data[LAUNCHER_ENV.gracePeriod] * 1000,
  };
}

/** Name of the domain in libvirt (KubeVirt's). */
export const domainName = ({ namespace, name }: LauncherConfig['vmi']): string => `${namespace}_${name}`;
