import type { ControllerActivities, StartAttempt } from '../../../api/contract/activities.ts';
import type { PodFacts } from '../../../api/contract/facts.ts';
import { withDefaults } from '../../../api/defaults/index.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { CREATED_BY_LABEL } from '../../facts/labels.ts';
import { podFacts } from '../../facts/pod.ts';
import { readableInstance } from '../../facts/readable.ts';
import { failure } from '../../failures.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ClaimFacts } from '../launch-manifest/index.ts';
import { ManifestError, renderLaunchManifest } from '../launch-manifest/index.ts';
import type { ControllerPorts } from '../ports.ts';
import { recordEvent } from '../record-event.ts';
import { refuseRivals } from '../token/rivals.ts';
import { readToken } from '../token/store.ts';
import { claimsOf } from './check-volumes.ts';
import { readInstance } from './read.ts';

type Ports = Pick<ControllerPorts, 'kube' | 'log' | 'config' | 'launcherImage' | 'imagePullSecret'>;

/**
 * Creates the launcher Pod of an attempt, or returns the one that exists: its name derives from VMI and attempt, so there is never a second.
 * @throws InvalidSpec, QuotaExceeded, Forbidden, StaleToken, TokenHeld, PodFailed, ObjectGone
 */
export const ensureLauncherPod =
  (ports: Ports): ControllerActivities['ensureLauncherPod'] =>
  async (attempt) => {
    const { kube } = ports;
    const vmi = readableInstance(await readInstance(kube, attempt.vmi));
    const bound = await boundPod(kube, attempt);
    const manifest = await render(ports, vmi, attempt);
    const { namespace, name = '' } = { namespace: attempt.vmi.namespace, name: manifest.metadata?.name };
    const existing = await kube.get('Pod', { namespace, name });
    if (existing !== undefined) return ours(existing, attempt);
    if (bound !== undefined) {
      throw failure('PodFailed', `Pod ${namespace}/${bound.name} (${bound.uid}) of this attempt is gone.`);
    }
    if (vmi.metadata?.deletionTimestamp !== undefined) {
      throw failure('ObjectGone', `VirtualMachineInstance ${namespace}/${attempt.vmi.name} is being deleted.`);
    }
    await refuseRivals(kube, attempt.vmi, (pod) => pod.name === name);
    try {
      const created = podFacts(await kube.create('Pod', manifest));
      const message = `Created launcher Pod ${created.name}`;
      await recordEvent(ports, {
        kind: 'VirtualMachineInstance',
        ref: attempt.vmi,
        reason: 'SuccessfulCreate',
        message,
      });
      return created;
    } catch (error) {
      const raced = isAlreadyExists(error) ? await kube.get('Pod', { namespace, name }) : undefined;
      if (raced === undefined) throw error;
      return ours(raced, attempt);
    }
  };

/** The Pod that the token names, after a live check that the attempt still holds the token. */
const boundPod = async (kube: KubePort, { vmi, epoch }: StartAttempt) => {
  const token = (await readToken(kube, vmi))?.token;
  if (token?.epoch === epoch && token.holder?.vmiUid === vmi.uid) return token.holder.pod;
  const holder = token?.holder?.vmiUid ?? 'nobody';
  const now = token === undefined ? 'gone' : `at epoch ${token.epoch}, held by ${holder}`;
  throw failure('StaleToken', `The run token of ${vmi.namespace}/${vmi.name} is ${now}, not at epoch ${epoch}.`);
};

const ours = (pod: Pod, { vmi }: StartAttempt): PodFacts => {
  const createdBy = pod.metadata?.labels?.[CREATED_BY_LABEL];
  if (createdBy === vmi.uid) return podFacts(pod);
  const name = `${vmi.namespace}/${pod.metadata?.name}`;
  throw failure('Forbidden', `Pod ${name} has the name of our launcher Pod but was not created by it. Delete it.`);
};

const render = async (
  { kube, config, launcherImage, imagePullSecret }: Ports,
  vmi: VirtualMachineInstance,
  { attempt, epoch, vmi: { namespace } }: StartAttempt,
): Promise<Pod> => {
  const [claims, labels] = await Promise.all([
    claimFacts(kube, namespace, vmi),
    kube.get('Namespace', { name: namespace }).then((found) => found?.metadata?.labels),
  ]);
  try {
    return renderLaunchManifest({
      vmi: withDefaults(vmi, config()),
      config: config(),
      launcherImage,
      attempt: { attempt, epoch },
      claims,
      ...(labels === undefined ? {} : { namespaceLabels: labels }),
      ...(imagePullSecret === undefined ? {} : { imagePullSecret }),
    });
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw failure('InvalidSpec', error.message, error);
  }
};

const claimFacts = async (
  kube: KubePort,
  namespace: string,
  vmi: VirtualMachineInstance,
): Promise<Record<string, ClaimFacts>> => {
  const facts: Record<string, ClaimFacts> = {};
  for (const { claim } of claimsOf(vmi)) {
    const found = await kube.get('PersistentVolumeClaim', { namespace, name: claim });
    if (found !== undefined) facts[claim] = { volumeMode: found.spec?.volumeMode === 'Block' ? 'Block' : 'Filesystem' };
  }
  return facts;
};
