import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { ObjectRef, PodRef } from '../../../api/contract/refs.ts';
import { tokenName } from '../../../api/contract/refs.ts';
import { withPolicy } from '../../../api/migration-policy/index.ts';
import type { Node, Pod } from '../../../api/kubernetes/types.ts';
import { readableInstance } from '../../facts/readable.ts';
import type { Moving } from '../../facts/token.ts';
import { failure } from '../../failures.ts';
import type { KubePort } from '../../kube/port.ts';
import { renderTargetManifest, withImagesOf } from '../launch-manifest/index.ts';
import { policyFor } from '../migration/policy.ts';
import type { ControllerPorts, TokenPorts } from '../ports.ts';
import { ensurePod } from './ensure-pod.ts';
import { readInstance } from './read.ts';
import { renderPod } from './render-pod.ts';

type Ports = Pick<ControllerPorts, 'log' | 'config' | 'launcherImage' | 'imagePullSecret' | 'around'> & TokenPorts;
type Request = Parameters<ControllerActivities['ensureTargetPod']>[0];

/**
 * Creates the migration's target Pod, or returns the one that exists. Never on the source's node.
 * @throws InvalidSpec, QuotaExceeded, Forbidden, StaleToken, TokenHeld, PodFailed, ObjectGone
 */
export const ensureTargetPod =
  (ports: Ports): ControllerActivities['ensureTargetPod'] =>
  async (request) => {
    const { kube } = ports;
    const { migration, source, epoch } = request;
    const vmi = readableInstance(await readInstance(kube, request.vmi));
    const moving = await recordedMove(ports, request);
    const { pod, node, addedNodeSelector } = await readSource(kube, request);
    const origin = { purpose: { migration: { name: migration.name, uid: migration.uid } }, epoch };
    const target = {
      sourcePod: pod,
      sourceNode: node,
      ...(addedNodeSelector === undefined ? {} : { addedNodeSelector }),
    };
    const policy = await policyFor(kube, { namespace: request.vmi.namespace, vmi, isUnderWay: true });
    const config = ports.config();
    const inForce = { ...config, migrations: withPolicy(config.migrations, policy) };
    const manifest = await renderPod({ ...ports, config: () => inForce }, withImagesOf(vmi, pod), origin, (input) =>
      renderTargetManifest(input, target),
    );
    const message = 'Created migration target pod';
    const event = { kind: 'VirtualMachineInstanceMigration', ref: migration, message } as const;
    return ensurePod(ports, { vmi, manifest, named: moving?.pod, besides: [source.uid], event });
  };

/** The move that the token tells of, after a live check that the VMI still runs in the source under this epoch. */
const recordedMove = async (
  { tokens }: Pick<TokenPorts, 'tokens'>,
  { vmi, migration, source, epoch }: Request,
): Promise<Moving | undefined> => {
  const token = (await tokens.read(vmi))?.token;
  const { holder, moving } = token ?? {};
  const stale = (why: string): Error =>
    failure('StaleToken', `The run token ${vmi.namespace}/${tokenName(vmi)} ${why}: no target Pod is created.`);
  if (token === undefined) throw stale('does not exist');
  if (token.epoch !== epoch) throw stale(`is at epoch ${token.epoch}, not at ${epoch}`);
  if (holder?.vmiUid !== vmi.uid || holder.pod?.uid !== source.uid) {
    throw stale(`is held by VMI ${holder?.vmiUid ?? '(none)'} in Pod ${holder?.pod?.uid ?? '(none)'}`);
  }
  if (moving !== undefined && moving.migration.uid !== migration.uid) {
    throw stale(`is being moved by migration ${moving.migration.name} (${moving.migration.uid})`);
  }
  return moving;
};

interface Source {
  pod: Pod;
  node: Pick<Node, 'metadata'>;
  addedNodeSelector: Record<string, string> | undefined;
}

/** Live reads of source Pod, its node and the VMIM. @throws ObjectGone */
const readSource = async (kube: KubePort, { vmi, migration, source }: Request): Promise<Source> => {
  const { namespace } = vmi;
  const [pod, vmim] = await Promise.all([
    kube.get('Pod', { namespace, name: source.name }),
    kube.get('VirtualMachineInstanceMigration', { namespace, name: migration.name }),
  ]);
  if (pod?.metadata?.uid !== source.uid) throw gone('Pod', { namespace, ...source });
  if (vmim?.metadata?.uid !== migration.uid) throw gone('VirtualMachineInstanceMigration', migration);
  const name = pod.spec?.nodeName ?? source.node;
  const node = name === undefined ? undefined : await kube.get('Node', { name });
  return { pod, node: node ?? {}, addedNodeSelector: vmim.spec.addedNodeSelector };
};

const gone = (kind: string, { namespace, name, uid }: ObjectRef | (PodRef & { namespace: string })): Error =>
  failure('ObjectGone', `${kind} ${namespace}/${name} (${uid}) is gone.`);
