import type { DomainReport } from '../../../api/launcher/reports.ts';
import { LauncherClient } from '../../support/launcher-client.ts';
import { LauncherPod } from '../../support/launcher-pod.ts';
import type { LauncherPodOptions } from '../../support/launcher-pod.ts';
import { testHost, testVmi } from '../../support/test-vmi.ts';
import type { TestVmiOptions } from '../../support/test-vmi.ts';
import { until } from '../../support/until.ts';

const open: { dispose(): Promise<void> }[] = [];

/** To be ended with the test. */
export function track<T extends { dispose(): Promise<void> }>(resource: T): T {
  open.push(resource);
  return resource;
}

/** Ends what the test started; for afterEach. */
export const disposeAll = async (): Promise<void> => {
  await Promise.all(open.splice(0).map((resource) => resource.dispose()));
};

/** A Pod and a client of its launcher. */
export async function startPod(
  options: LauncherPodOptions = {},
): Promise<{ pod: LauncherPod; client: LauncherClient }> {
  const pod = await LauncherPod.start(options);
  const client = new LauncherClient(pod.commandSocket, pod.vmi.uid);
  open.push({ dispose: () => (client.close(), pod.dispose()) });
  return { pod, client };
}

export const syncRequest = (pod: LauncherPod, options: TestVmiOptions & { epoch?: number } = {}): object => ({
  vmiJson: JSON.stringify(testVmi(pod.vmi, options)),
  hostJson: JSON.stringify(testHost),
  tokenEpoch: options.epoch ?? 1,
});

/** The first report that fits, waited for. */
export const reportWhere = (
  reports: DomainReport[],
  what: string,
  fits: (report: DomainReport) => boolean,
): Promise<DomainReport> => until(what, () => reports.find(fits), { timeoutMs: 60_000 });

export const agentConnected = (reports: DomainReport[]): Promise<DomainReport> =>
  reportWhere(reports, 'the guest agent is connected', ({ agent }) => agent.connected);

/** Pids of QEMU in the Pod. */
export const qemu = (pod: LauncherPod): number[] => pod.processes('/usr/bin/qemu-system');
