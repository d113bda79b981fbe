import { APP_LABEL, COMPUTE, CREATED_BY_LABEL, LAUNCHER_APP, OUTDATED_LABEL } from '../../activities/facts/labels.ts';
import type { KubePort } from '../../activities/kube/port.ts';
import type { Pod } from '../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { Logger } from '../shared/logging.ts';

/** A label that does not say what is so: of an instance, or of its Pod. */
export interface WrongLabel {
  kind: 'VirtualMachineInstance' | 'Pod';
  metadata: { namespace: string; name: string; uid: string };
  /** '' marks it, null takes the mark away. */
  label: '' | null;
}

const OVER = ['Succeeded', 'Failed'];

/** Whose label says wrongly whether the launcher is another than Pods get now. Pure. */
export const wrongLabels = (instances: VirtualMachineInstance[], pods: Pod[], launcherImage: string): WrongLabel[] => {
  const alive = instances.filter(({ status }) => !OVER.includes(status?.phase ?? ''));
  const uids = new Set(alive.map(({ metadata }) => metadata?.uid));
  return [
    ...alive.flatMap((vmi) =>
      wrong('VirtualMachineInstance', vmi, vmi.status?.launcherContainerImageVersion, launcherImage),
    ),
    ...pods
      .filter(({ metadata }) => metadata?.labels?.[APP_LABEL] === LAUNCHER_APP)
      .filter(({ metadata }) => uids.has(metadata?.labels?.[CREATED_BY_LABEL]))
      .flatMap((pod) =>
        wrong('Pod', pod, pod.spec?.containers.find(({ name }) => name === COMPUTE)?.image, launcherImage),
      ),
  ];
};

const wrong = (
  kind: WrongLabel['kind'],
  { metadata }: Pick<Pod, 'metadata'>,
  image: string | undefined,
  launcherImage: string,
): WrongLabel[] => {
  const { namespace = '', name = '', uid = '', labels = {} } = metadata ?? {};
  const isOutdated = image !== undefined && image !== '' && image !== launcherImage;
  if (isOutdated === OUTDATED_LABEL in labels) return [];
  return [{ kind, metadata: { namespace, name, uid }, label: isOutdated ? '' : null }];
};

/** Marks what runs in a launcher of another virtflow: once, when a controller of a new one begins to lead. Whatever starts or moves later is marked as it goes. */
export const markOutdated = async (
  kube: Pick<KubePort, 'mergePatch'>,
  labels: WrongLabel[],
  log: Pick<Logger, 'info' | 'warn'>,
): Promise<void> => {
  if (labels.length > 0)
    log.info({ count: labels.length }, 'launchers of another release than this controller: marking them');
  for (const { kind, metadata, label } of labels) {
    const { namespace, name, uid } = metadata;
    const patch = { metadata: { uid, labels: { [OUTDATED_LABEL]: label } } };
    try {
      // The right to change a Pod's status includes its labels; a wider one is not needed.
      await kube.mergePatch(kind, { namespace, name }, patch, kind === 'Pod' ? { subresource: 'status' } : {});
    } catch (error) {
      log.warn(
        { err: error, kind, namespace, name },
        'it could not be marked; the next controller that leads tries again',
      );
    }
  }
};
