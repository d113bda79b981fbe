import type { KubeVirt } from '../../../api/kubevirt/types.ts';
import { until } from '../../support/until.ts';
import { getObject, kubectl } from './kubectl.ts';
import { SYSTEM_NAMESPACE } from './pods.ts';

type Settings = Record<string, unknown>;

const read = (): Promise<KubeVirt | undefined> => getObject<KubeVirt>('kubevirt', 'kubevirt', SYSTEM_NAMESPACE);

/** The generated type calls the field by another name than the API does. */
const settingsOf = (kubevirt: KubeVirt | undefined): Settings | undefined =>
  (kubevirt?.spec as { configuration?: { migrations?: Settings } } | undefined)?.configuration?.migrations;

const patch = (migrations: Settings | null): Promise<string> =>
  kubectl([
    ...['patch', 'kubevirt', 'kubevirt', '-n', SYSTEM_NAMESPACE, '--type=merge', '-p'],
    JSON.stringify({ spec: { configuration: { migrations } } }),
  ]);

const untilInForce = (): Promise<boolean> =>
  until(
    'the configuration is in force',
    async () => {
      const kubevirt = await read();
      return kubevirt?.status?.observedGeneration === kubevirt?.metadata?.generation;
    },
    { timeoutMs: 30_000, everyMs: 200 },
  );

/** Sets spec.configuration.migrations of the KubeVirt object, with nothing else in it. @returns what puts it back */
export async function setMigrations(settings: Settings): Promise<() => Promise<void>> {
  const before = settingsOf(await read());
  const put = async (wanted: Settings | undefined): Promise<void> => {
    // A merge alone would keep what is not named.
    await patch(null);
    if (wanted !== undefined) await patch(wanted);
    await untilInForce();
  };
  await put(settings);
  return () => put(before);
}
