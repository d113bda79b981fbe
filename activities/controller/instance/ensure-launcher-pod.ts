import type { ControllerActivities, StartAttempt } from '../../../api/contract/activities.ts';
import type { Holder } from '../../facts/token.ts';
import { podFacts } from '../../facts/pod.ts';
import { readableInstance } from '../../facts/readable.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';
import { renderLaunchManifest } from '../launch-manifest/index.ts';
import type { ControllerPorts } from '../ports.ts';
import { readToken } from '../token/store.ts';
import { ensurePod } from './ensure-pod.ts';
import { readInstance } from './read.ts';
import { renderPod } from './render-pod.ts';
import { withTopologyHints } from './topology-hints.ts';

type Ports = Pick<ControllerPorts, 'kube' | 'log' | 'config' | 'launcherImage' | 'imagePullSecret' | 'placed'>;

/**
 * Creates the launcher Pod of an attempt, or returns the one that exists: with its node, if it gets one in a moment.
 * @throws InvalidSpec, QuotaExceeded, Forbidden, StaleToken, TokenHeld, PodFailed, ObjectGone
 */
export const ensureLauncherPod =
  (ports: Ports): ControllerActivities['ensureLauncherPod'] =>
  async (attempt) => {
    const [read, named] = await Promise.all([readInstance(ports.kube, attempt.vmi), boundPod(ports.kube, attempt)]);
    const vmi = await withTopologyHints(ports.kube, readableInstance(read));
    const origin = { purpose: { attempt: attempt.attempt }, epoch: attempt.epoch };
    const manifest = await renderPod(ports, vmi, origin, renderLaunchManifest);
    const event = { kind: 'VirtualMachineInstance', ref: attempt.vmi, message: 'Created virtual machine pod' } as const;
    const ensured = await ensurePod(ports, { vmi, manifest, named, besides: [], event });
    const placed = ensured.node === undefined ? await ports.placed?.(ensured.uid) : undefined;
    return placed === undefined ? ensured : podFacts(placed);
  };

/** The Pod that the token names, after a live check that the attempt still holds the token. */
const boundPod = async (kube: KubePort, { vmi, epoch }: StartAttempt): Promise<Holder['pod']> => {
  const token = (await readToken(kube, vmi))?.token;
  if (token?.epoch === epoch && token.holder?.vmiUid === vmi.uid) return token.holder.pod;
  const holder = token?.holder?.vmiUid ?? 'nobody';
  const now = token === undefined ? 'gone' : `at epoch ${token.epoch}, held by ${holder}`;
  throw failure('StaleToken', `The run token of ${vmi.namespace}/${vmi.name} is ${now}, not at epoch ${epoch}.`);
};
