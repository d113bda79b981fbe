import { withDefaults } from '../../../api/defaults/index.ts';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';
import type { ClaimFacts, LaunchInput } from '../launch-manifest/index.ts';
import { ManifestError } from '../launch-manifest/index.ts';
import type { ControllerPorts } from '../ports.ts';
import { claimsOf } from '../volumes/claims.ts';

type Ports = Pick<ControllerPorts, 'kube' | 'config' | 'launcherImage' | 'imagePullSecret'>;

/** Renders a launcher Pod of the VMI with what its namespace says, live. @throws InvalidSpec naming the field that no Pod can be made of */
export const renderPod = async (
  { kube, config, launcherImage, imagePullSecret }: Ports,
  vmi: VirtualMachineInstance,
  origin: Pick<LaunchInput, 'purpose' | 'epoch'>,
  render: (input: LaunchInput) => Pod,
): Promise<Pod> => {
  const namespace = vmi.metadata?.namespace ?? '';
  const [claims, labels] = await Promise.all([
    claimFacts(kube, namespace, vmi),
    kube.get('Namespace', { name: namespace }).then((found) => found?.metadata?.labels),
  ]);
  try {
    return render({
      vmi: withDefaults(vmi, config()),
      config: config(),
      launcherImage,
      ...origin,
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
