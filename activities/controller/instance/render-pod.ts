import { withDefaults } from '../../../api/defaults/index.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ClaimFacts, LaunchInput } from '../launch-manifest/index.ts';
import { ManifestError } from '../launch-manifest/index.ts';
import type { ControllerPorts } from '../ports.ts';
import { readClaims } from '../volumes/claims.ts';
import { ensureStateClaim } from '../volumes/state-claim.ts';

type Ports = Pick<ControllerPorts, 'kube' | 'config' | 'launcherImage' | 'imagePullSecret' | 'around'>;

/**
 * Renders a launcher Pod of the VMI with what its namespace says; the claim for what the guest keeps is made before.
 * @throws InvalidSpec naming the field that no Pod can be made of
 */
export const renderPod = async (
  ports: Ports,
  vmi: VirtualMachineInstance,
  origin: Pick<LaunchInput, 'purpose' | 'epoch'>,
  render: (input: LaunchInput) => Pod,
): Promise<Pod> => {
  const { kube, config, launcherImage, imagePullSecret } = ports;
  const namespace = vmi.metadata?.namespace ?? '';
  await ensureStateClaim(kube, vmi, config());
  const [claims, labels, quotaOnLimits] = await Promise.all([
    claimFacts(kube, vmi),
    namespaceLabels(ports, namespace),
    boundLimits(ports, namespace),
  ]);
  try {
    return render({
      vmi: withDefaults(vmi, config()),
      config: config(),
      launcherImage,
      ...origin,
      claims,
      quotaOnLimits,
      ...(labels === undefined ? {} : { namespaceLabels: labels }),
      ...(imagePullSecret === undefined ? {} : { imagePullSecret }),
    });
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw failure('InvalidSpec', error.message, error);
  }
};

const claimFacts = async (kube: KubePort, vmi: VirtualMachineInstance): Promise<Record<string, ClaimFacts>> => {
  const claims = Object.entries(await readClaims(kube, vmi));
  return Object.fromEntries(
    claims.map(([name, { spec }]): [string, ClaimFacts] => [
      name,
      { volumeMode: spec?.volumeMode === 'Block' ? 'Block' : 'Filesystem' },
    ]),
  );
};

type Surrounded = Pick<ControllerPorts, 'kube' | 'around'>;

const namespaceLabels = async ({ kube, around }: Surrounded, name: string) =>
  (around?.namespace(name) ?? (await kube.get('Namespace', { name })))?.metadata?.labels;

/** Limits that some quota of the namespace bounds: it refuses Pods that have none. */
const boundLimits = async (
  { kube, around }: Surrounded,
  namespace: string,
): Promise<NonNullable<LaunchInput['quotaOnLimits']>> => {
  const quotas = around?.quotas(namespace) ?? (await kube.list('ResourceQuota', { namespace }));
  const bounds = quotas.flatMap(({ spec }) => Object.keys(spec?.hard ?? {}));
  return { cpu: bounds.includes('limits.cpu'), memory: bounds.includes('limits.memory') };
};
