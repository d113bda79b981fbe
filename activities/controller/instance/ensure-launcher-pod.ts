import type { ControllerActivities, StartAttempt } from '../../../api/contract/activities.ts';
import type { Holder, Token } from '../../facts/token.ts';
import { podFacts } from '../../facts/pod.ts';
import { readableInstance } from '../../facts/readable.ts';
import { failure } from '../../failures.ts';
import { countsOnClock, renderLaunchManifest } from '../launch-manifest/index.ts';
import type { ControllerPorts, TokenPorts } from '../ports.ts';
import type { Tokens } from '../token/store.ts';
import { ensurePod } from './ensure-pod.ts';
import { knownInstance, readInstance } from './read.ts';
import { renderPod } from './render-pod.ts';
import { withTopologyHints } from './topology-hints.ts';

type Ports = TokenPorts &
  Pick<ControllerPorts, 'log' | 'config' | 'launcherImage' | 'imagePullSecret' | 'placed' | 'cached' | 'around'>;

/**
 * Creates the launcher Pod of an attempt, or returns the one that exists: with its node, if it gets one in a moment.
 * @throws InvalidSpec, QuotaExceeded, Forbidden, StaleToken, TokenHeld, PodFailed, ObjectGone
 */
export const ensureLauncherPod =
  (ports: Ports): ControllerActivities['ensureLauncherPod'] =>
  async (attempt) => {
    const { kube, tokens } = ports;
    const [known, { named, isAlone }] = await Promise.all([
      knownInstance(ports, attempt.vmi).then(readableInstance),
      heldToken(tokens, attempt),
    ]);
    // Hints are settled once, on the object: not on one that may be behind.
    const vmi = countsOnClock(known)
      ? await withTopologyHints(kube, readableInstance(await readInstance(kube, attempt.vmi)))
      : known;
    const origin = { purpose: { attempt: attempt.attempt }, epoch: attempt.epoch };
    const manifest = await renderPod(ports, vmi, origin, renderLaunchManifest);
    const event = { kind: 'VirtualMachineInstance', ref: attempt.vmi, message: 'Created virtual machine pod' } as const;
    const ensured = await ensurePod(ports, { vmi, manifest, named, isAlone, besides: [], event });
    const placed = ensured.node === undefined ? await ports.placed?.(ensured.uid) : undefined;
    return placed === undefined ? ensured : podFacts(placed);
  };

interface Held {
  /** The Pod that the token names. */
  named: Holder['pod'];
  isAlone: boolean;
}

/** The token, if the attempt holds it as far as this process has seen; else by a live read. A Pod that is made all the same is never bound. */
const heldToken = async (tokens: Tokens, { vmi, epoch }: StartAttempt): Promise<Held> => {
  const isHeld = (token: Token | undefined): boolean => token?.epoch === epoch && token.holder?.vmiUid === vmi.uid;
  const seen = tokens.seen(vmi);
  if (isHeld(seen?.read?.token)) return { named: seen?.read?.token.holder?.pod, isAlone: seen?.isAlone === true };
  const token = (await tokens.read(vmi))?.token;
  if (isHeld(token)) return { named: token?.holder?.pod, isAlone: false };
  const holder = token?.holder?.vmiUid ?? 'nobody';
  const now = token === undefined ? 'gone' : `at epoch ${token.epoch}, held by ${holder}`;
  throw failure('StaleToken', `The run token of ${vmi.namespace}/${vmi.name} is ${now}, not at epoch ${epoch}.`);
};
