import { z } from 'zod';
import type { Pod } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { DESCHEDULER, EVICTION_SOURCE_ANNOTATION } from '../../../api/contract/evacuation.ts';
import { APP_LABEL, CREATED_BY_LABEL, LAUNCHER_APP } from '../../../activities/facts/labels.ts';
import { KubeError } from '../../../activities/kube/port.ts';
import type { AdmissionPorts } from './ports.ts';
import type { AdmissionRequest, Judge, Verdict } from './review.ts';
import { ALLOWED } from './review.ts';
import { isTrue } from '../../../api/kubernetes/conditions.ts';

/** On a launcher Pod: name of its VMI. */
const DOMAIN_ANNOTATION = 'kubevirt.io/domain';
const OVER = ['Succeeded', 'Failed'];

/**
 * Turns the eviction of a launcher Pod (a node that is drained, the descheduler) into the wish that its VMI leaves the node: the guest is migrated, and the
 * eviction refused until that is done. What a VMI's evictionStrategy says decides whether; KubeVirt's rules and texts.
 */
export const judgeEviction =
  (ports: AdmissionPorts): Judge =>
  async (request) => {
    const { kube } = ports;
    const { namespace, name } = request;
    const pod = await kube.get('Pod', { namespace, name });
    if (pod === undefined || !isLauncher(pod) || OVER.includes(pod.status?.phase ?? '')) return ALLOWED;
    const vmiName = pod.metadata?.annotations?.[DOMAIN_ANNOTATION];
    if (vmiName === undefined) return ALLOWED;
    const vmi = await kube.get('VirtualMachineInstance', { namespace, name: vmiName });
    // Nobody's Pod any more, or one of an instance that is over: nothing to move.
    if (vmi === undefined || vmi.metadata?.uid !== pod.metadata?.labels?.[CREATED_BY_LABEL]) return ALLOWED;
    if (OVER.includes(vmi.status?.phase ?? '')) return ALLOWED;
    return evict(ports, request, vmi, pod);
  };

const isLauncher = ({ metadata }: Pod): boolean => metadata?.labels?.[APP_LABEL] === LAUNCHER_APP;

const evict = async (
  ports: AdmissionPorts,
  request: AdmissionRequest,
  vmi: VirtualMachineInstance,
  pod: Pod,
): Promise<Verdict> => {
  const { namespace = '', name = '' } = vmi.metadata ?? {};
  const strategy = vmi.spec.evictionStrategy ?? ports.config().evictionStrategy;
  if (strategy === 'LiveMigrate' && !isMigratable(vmi))
    return later(`VMI ${name} is configured with an eviction strategy but is not live-migratable`);
  if (strategy === 'LiveMigrateIfPossible' && !isMigratable(vmi)) return ALLOWED;
  if (!['LiveMigrate', 'LiveMigrateIfPossible', 'External'].includes(strategy)) return ALLOWED;
  const { nodeName, evacuationNodeName } = vmi.status ?? {};
  // The descheduler looks for these words.
  const triggered = `Eviction triggered evacuation of VMI "${namespace}/${name}"`;
  if (evacuationNodeName) return later(`Evacuation in progress: ${triggered}`);
  if (nodeName !== pod.spec?.nodeName) return later('Eviction request for target Pod');
  if (isDryRun(request)) return later(triggered);
  try {
    await mark(ports, vmi, nodeName, sourceOf(request));
    return later(triggered);
  } catch (error) {
    // Whoever drains a node gives up at any other answer.
    if (!(error instanceof KubeError)) throw error;
    return later(`VMI "${namespace}/${name}" could not be asked to leave its node: ${error.message}`);
  }
};

/** A descheduler is in no hurry: it is known by the name of its service account. */
const sourceOf = ({ userInfo }: AdmissionRequest): string | undefined =>
  /^system:serviceaccount:[^:]+:.*descheduler/.test(userInfo.username) ? DESCHEDULER : undefined;

const isMigratable = (vmi: VirtualMachineInstance): boolean => isTrue(vmi, 'LiveMigratable');

const eviction = z.looseObject({ deleteOptions: z.looseObject({ dryRun: z.array(z.string()).optional() }).optional() });

const isDryRun = ({ dryRun, object }: AdmissionRequest): boolean => {
  const { data } = eviction.safeParse(object);
  return dryRun || data?.deleteOptions?.dryRun?.includes('All') === true;
};

/** The VMI's wish to leave its node: a request of the front door, which nobody else writes. @throws KubeError */
const mark = async (
  { kube }: AdmissionPorts,
  { metadata }: VirtualMachineInstance,
  node = '',
  source?: string,
): Promise<void> => {
  const { namespace = '', name = '', uid, annotations } = metadata ?? {};
  const isSaid = annotations?.[EVICTION_SOURCE_ANNOTATION] === source;
  const said = isSaid ? {} : { annotations: { [EVICTION_SOURCE_ANNOTATION]: source ?? null } };
  const patch = { metadata: { uid, ...said }, status: { evacuationNodeName: node } };
  await kube.mergePatch('VirtualMachineInstance', { namespace, name }, patch);
};

/** Not now: whoever drains a node asks again. */
const later = (message: string): Verdict => ({
  allowed: false,
  status: { code: 429, reason: 'TooManyRequests', message },
});
