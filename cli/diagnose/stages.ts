import { CONTROLLER_QUEUE, nodeQueue } from '../../api/contract/task-queues.ts';
import { whyNoTarget } from '../migration/destination.ts';
import { remedyFor } from '../remedies.ts';
import { clause, command } from '../words.ts';
import type { Facts, Standing, STAGES } from './facts.ts';
import { notReached, ok, unknown } from './facts.ts';
import { computeReady, endOf, guestPod, noNode, stuck } from './pod.ts';
import { isTrue } from '../../api/kubernetes/conditions.ts';

/** What each stage shows by itself, apart from what the operation under way says. */
export const OWN_STANDING: Record<(typeof STAGES)[number], (facts: Facts) => Standing> = {
  object,
  volumes,
  'launcher Pod': launcherPod,
  scheduling,
  'command server': commandServer,
  libvirt,
  domain,
  agent,
};

function object(facts: Facts): Standing {
  const { vm, vmi, name } = facts;
  if (vmi) return instance(facts, vmi);
  const status = vm?.status?.printableStatus ?? 'no status yet';
  if (vm?.metadata?.deletionTimestamp !== undefined)
    return { state: 'waiting', why: 'the VirtualMachine is being deleted', remedy: 'wait for its end' };
  if (isHalted(facts))
    return { state: 'stopped', why: 'it is meant to be stopped', remedy: `start it: ${command('start', name)} --wait` };
  const idle = facts.temporal.answered && facts.temporal.value.pollers[CONTROLLER_QUEUE] === 0;
  if (idle)
    return { state: 'waiting', why: 'no controller worker runs, so nobody creates the instance', remedy: CONTROLLER };
  const again = vm?.status?.startFailure?.retryAfterTimestamp;
  if (again !== undefined)
    return {
      state: 'waiting',
      why: `its instances ended without ever running; the next start is due at ${again}`,
      remedy: `see why in ${command('history', name)}`,
    };
  return { state: 'waiting', why: `there is no instance yet (${status})`, remedy: 'wait a moment and look again' };
}

const CONTROLLER = 'bring it back (kubectl get pods -n virtflow)';

const isHalted = ({ vm }: Facts): boolean =>
  vm?.spec.runStrategy === 'Halted' || (vm?.spec.runStrategy === undefined && vm?.spec.running !== true);

function instance({ name }: Facts, vmi: NonNullable<Facts['vmi']>): Standing {
  const phase = vmi.status?.phase || 'Pending';
  if (vmi.metadata?.deletionTimestamp !== undefined)
    return {
      state: 'waiting',
      why: `the instance is being shut down (${phase})`,
      remedy: `wait for its grace period, or hasten it: ${command('stop', name)} --force`,
    };
  return ok(`instance is ${phase}`);
}

function volumes(facts: Facts): Standing {
  const { vmi, claims, name: on } = facts;
  if (!vmi) return notReached;
  if (!claims.answered) return unknown(claims.why);
  if (claims.value.length === 0) return ok('no claim is needed');
  const missing = claims.value.find(({ claim }) => claim === undefined);
  if (missing)
    return {
      state: 'waiting',
      why: `claim ${missing.name} does not exist`,
      remedy: remedyFor('VolumeNotFound', on),
    };
  const unbound = claims.value.find(({ claim }) => claim?.status?.phase !== 'Bound');
  // Some storage binds a claim only once a Pod that uses it is scheduled.
  if (unbound && guestPod(facts) === undefined)
    return {
      state: 'waiting',
      why: `claim ${unbound.name} is ${unbound.claim?.status?.phase ?? 'without status'}`,
      remedy: remedyFor('VolumeNotReady', on),
    };
  return ok(claims.value.map(({ name, claim }) => `${name} is ${claim?.status?.phase}`).join(', '));
}

function launcherPod(facts: Facts): Standing {
  const { vmi, pods, name } = facts;
  if (!vmi) return notReached;
  if (!pods.answered) return unknown(pods.why);
  const pod = guestPod(facts);
  if (!pod) return isFinal(facts) ? ok('gone, as the guest has ended') : notReached;
  const ended = endOf(pod);
  if (ended !== undefined)
    return isFinal(facts) ? ok(ended) : { state: 'failed', why: ended, remedy: remedyFor('PodFailed', name) };
  const why = stuck(pod);
  if (why !== undefined)
    return { state: 'waiting', why, remedy: remedyFor('PodNotReady', name, `Pod ${pod.metadata?.name}: ${why}`) };
  if (pod.metadata?.deletionTimestamp !== undefined)
    return { state: 'waiting', why: `Pod ${pod.metadata.name} is being deleted`, remedy: 'wait for its end' };
  if (computeReady(pod) || noNode(pod) !== undefined) return ok(pod.metadata?.name ?? '');
  return pod.spec?.nodeName === undefined
    ? ok(`${pod.metadata?.name}, not on a node yet`)
    : { state: 'waiting', why: `the containers of ${pod.metadata?.name} are being started`, remedy: 'wait a moment' };
}

function scheduling(facts: Facts): Standing {
  const pod = guestPod(facts);
  if (!facts.vmi || !pod) return notReached;
  const why = noNode(pod);
  if (why !== undefined)
    return { state: 'waiting', why, remedy: remedyFor('PodNotReady', facts.name, `Pod ${pod.metadata?.name}: ${why}`) };
  const node = pod.spec?.nodeName;
  if (node === undefined) return { state: 'waiting', why: 'no node has been chosen yet', remedy: 'wait a moment' };
  if (!facts.node.answered) return ok(`on ${node} (${facts.node.why})`);
  if (facts.node.value === undefined)
    return { state: 'failed', why: `node ${node} is gone from the cluster`, remedy: remedyFor('Unproven', facts.name) };
  const bad = whyNoTarget({ ...facts.node.value, spec: {} });
  return bad === undefined
    ? ok(`on ${node}`)
    : { state: 'failed', why: `node ${node}: ${clause(bad)}`, remedy: remedyFor('Unproven', facts.name) };
}

function commandServer(facts: Facts): Standing {
  const pod = guestPod(facts);
  const node = pod?.spec?.nodeName;
  if (!pod || node === undefined || endOf(pod) !== undefined) return notReached;
  if (!facts.temporal.answered)
    return runs(facts) ? ok(`the launcher has told of a running guest; ${NOT_ASKED}`) : unknown(facts.temporal.why);
  if (facts.temporal.value.pollers[nodeQueue(node)] === 0)
    return {
      state: 'waiting',
      why: `no worker on node ${node} takes work${runs(facts) ? ' (the guest runs on)' : ''}`,
      remedy: remedyFor('NoWorker', facts.name),
    };
  if (!computeReady(pod)) return notReached;
  return ok(`a node worker on ${node} takes work`);
}

const NOT_ASKED = 'whether its node has a worker could not be asked';

function libvirt(facts: Facts): Standing {
  if (runs(facts) || isFinal(facts)) return ok('the domain was defined and started');
  const pod = guestPod(facts);
  return pod && computeReady(pod)
    ? { state: 'waiting', why: 'the domain has not started yet', remedy: 'wait a moment' }
    : notReached;
}

function domain(facts: Facts): Standing {
  const { vmi, name } = facts;
  const { reason, nodeName } = vmi?.status ?? {};
  if (isFinal(facts)) {
    const text = reason ?? `the guest has ended (${vmi?.status?.phase})`;
    return {
      state: 'failed',
      why: clause(text),
      remedy: `see ${command('history', name)}; start it again: ${command('start', name)}`,
    };
  }
  if (!runs(facts)) return notReached;
  const paused = vmi?.status?.conditions?.find(({ type, status }) => type === 'Paused' && status === 'True');
  if (paused)
    return {
      state: 'waiting',
      why: `paused: ${clause(paused.message ?? paused.reason ?? '')}`,
      remedy:
        paused.reason === 'PausedIOError'
          ? 'make room on the storage or repair it; the guest then goes on when it is unpaused'
          : 'unpause it when you want it to go on',
    };
  return ok(`runs on ${nodeName}`);
}

function agent(facts: Facts): Standing {
  if (!runs(facts)) return notReached;
  const connected = isTrue(facts.vmi, 'AgentConnected');
  const { prettyName } = facts.vmi?.status?.guestOSInfo ?? {};
  if (connected) return ok(`connected${prettyName ? ` (${prettyName})` : ''}`);
  return {
    state: 'waiting',
    why: 'the guest agent does not answer',
    remedy: 'wait until the guest has booted; if it has no agent, install qemu-guest-agent in it (it runs without)',
  };
}

const runs = ({ vmi }: Facts): boolean => vmi?.status?.phase === 'Running';
const isFinal = ({ vmi }: Facts): boolean => ['Succeeded', 'Failed'].includes(vmi?.status?.phase ?? '');
