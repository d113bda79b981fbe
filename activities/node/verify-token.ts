import type { RunToken } from '../../api/contract/activities.ts';
import type { OnMigration } from '../../api/contract/migrations.ts';
import type { ObjectRef, PodRef } from '../../api/contract/refs.ts';
import { tokenName } from '../../api/contract/refs.ts';
import { runToken, tokenOf } from '../facts/token.ts';
import { failure } from '../failures.ts';
import type { NodePorts } from './ports.ts';
import type { OnPod } from './verify.ts';

type Ports = Pick<NodePorts, 'kube' | 'node'>;

/**
 * Live read of the run token: the domain may start in this Pod under this epoch, and under no other.
 * @throws StaleToken
 */
export const verifyToken = async (ports: Ports, request: OnPod & { epoch: number }): Promise<void> => {
  const { token, refuse } = await readToken(ports, request.vmi, 'the domain is not started');
  verifyHolder(token, { ...request, pod: { ...request.pod, node: ports.node } }, refuse);
  // The guest may have left: what is gone from the source then is not to be started there again.
  if (token.moving !== undefined) throw refuse(`is being moved by migration ${token.moving.migration.name}`);
};

/**
 * Live read of the run token: the source holds it under this epoch, and no other migration moves it. `moving`: this one must be moving it to the
 * target by now.
 * @throws StaleToken
 */
export const verifyMove = async (
  ports: Ports,
  move: OnMigration & { source: PodRef; target: PodRef; epoch: number; moving: boolean },
): Promise<void> => {
  const { vmi, migration, source, target, epoch } = move;
  const { token, refuse } = await readToken(ports, vmi, `migration ${migration.name} is not carried out`);
  verifyHolder(token, { vmi, pod: source, epoch }, refuse);
  const { moving } = token;
  if (moving === undefined) {
    if (move.moving) throw refuse('names no Pod to which the domain is moved');
    return;
  }
  if (moving.migration.uid !== migration.uid) throw refuse(`is being moved by migration ${moving.migration.name}`);
  if (moving.podUid !== target.uid) throw refuse(`is being moved to Pod ${moving.podUid}, not to ${target.uid}`);
};

/**
 * Live read of the run token: the migration moves the domain to this Pod, or has moved it there.
 * @throws StaleToken
 */
export const verifyTarget = async (ports: Ports, { vmi, migration, pod }: OnMigration & OnPod): Promise<void> => {
  const { token, refuse } = await readToken(ports, vmi, `the guest is not resumed in Pod ${pod.name}`);
  const { holder, moving } = token;
  if (holder?.vmiUid !== vmi.uid) throw refuse(`is held by ${holder?.vmiUid ?? 'nobody'}, not by VMI ${vmi.uid}`);
  if (holder.podUid === pod.uid) return;
  if (moving?.podUid !== pod.uid || moving.migration.uid !== migration.uid) {
    throw refuse(`does not say that migration ${migration.name} (uid ${migration.uid}) moves the domain there`);
  }
};

type Refuse = (why: string) => Error;

const readToken = async (
  { kube }: Ports,
  vmi: ObjectRef,
  consequence: string,
): Promise<{ token: RunToken; refuse: Refuse }> => {
  const refuse: Refuse = (why) =>
    failure('StaleToken', `the run token ${vmi.namespace}/${tokenName(vmi)} ${why}: ${consequence}`);
  const lease = await kube.get('Lease', { namespace: vmi.namespace, name: tokenName(vmi) });
  if (lease === undefined) throw refuse('does not exist');
  return { token: runToken(tokenOf(lease)), refuse };
};

const verifyHolder = ({ epoch, holder }: RunToken, expected: OnPod & { epoch: number }, refuse: Refuse): void => {
  const { vmi, pod } = expected;
  if (epoch !== expected.epoch) throw refuse(`is at epoch ${epoch}, not at ${expected.epoch}`);
  if (holder?.vmiUid !== vmi.uid) throw refuse(`is held by ${holder?.vmiUid ?? 'nobody'}, not by VMI ${vmi.uid}`);
  // Only a bound token keeps others away: before, whoever comes next may take it.
  if (holder.podUid !== pod.uid) throw refuse(`names Pod ${holder.podUid ?? '(none)'}, not ${pod.uid}`);
  if (holder.node !== undefined && holder.node !== pod.node) {
    throw refuse(`names node ${holder.node}, not ${pod.node ?? '(none)'}`);
  }
};
