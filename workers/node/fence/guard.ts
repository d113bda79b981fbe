import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeFence, fenceOn } from '../../../api/fencing/index.ts';
import { ownFence } from '../../../activities/fencing.ts';
import type { OwnFence } from '../../../activities/fencing.ts';
import type { StopPorts } from '../../../activities/node/fence/stop-domains.ts';
import { stopStaleDomains } from '../../../activities/node/fence/stop-domains.ts';
import type { Node } from '../../../api/kubernetes/types.ts';
import type { Check } from '../../shared/health.ts';

export interface FenceGuard {
  /** Resolves once nothing runs here that may run elsewhere by now: before that the worker must not serve. Never rejects. */
  clear: Promise<void>;
  /** Whether the node may take VMs. */
  isOpen(): boolean;
  /** Takes in the Node as a heartbeat found it: a fence may have come or gone. */
  saw: (node: Node) => void;
  check: () => Check;
  /** Resolves after the signal. */
  done: Promise<void>;
}

export interface GuardOptions {
  node: string;
  ports: StopPorts;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  signal: AbortSignal;
  /** Between attempts while the API server does not answer or a domain does not end. */
  retryMs?: number;
}

/**
 * Keeps fences on the worker's side. While this machine was off, frozen or cut off its node may have been fenced and its VMs started elsewhere: what
 * runs here of them is stopped when the worker starts, and whenever a fence is seen on a worker that lives.
 */
export const guardFence = ({ node, ports, log, signal, retryMs = 2_000 }: GuardOptions): FenceGuard => {
  let standing: OwnFence | undefined;
  let problem = 'not looked for yet';
  let wake = (): void => {};
  let isWanted = true;
  let resolve = (): void => {};
  const clear = new Promise<void>((done) => (resolve = done));

  const look = async (): Promise<void> => {
    const fence = await ownFence(ports.kube, node);
    const stopped = await stopStaleDomains(ports, fence);
    for (const one of stopped) log.warn({ ...one, fence }, 'a domain that may run elsewhere by now was stopped');
    if (fence.kind !== standing?.kind) log.info({ fence }, 'fence of this node');
    standing = fence;
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      isWanted = false;
      try {
        await look();
        problem = '';
        resolve();
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
        log.error({ err: error }, 'what may run elsewhere by now could not be stopped; trying again');
        await delay(retryMs, undefined, { signal }).catch(() => undefined);
        continue;
      }
      if (!isWanted && !signal.aborted) await new Promise<void>((woken) => (wake = woken));
    }
  };
  signal.addEventListener('abort', () => wake(), { once: true });

  return {
    clear,
    isOpen: () => problem === '' && standing?.kind === 'none',
    saw: (found) => {
      // Under a fence, or after one, each heartbeat looks again: nothing may run under it, and it may be gone.
      if (fenceOn(found) === undefined && standing?.kind === 'none') return;
      isWanted = true;
      wake();
    },
    check: () => {
      if (problem !== '') return { ok: false, detail: problem };
      if (standing === undefined || standing.kind === 'none') return { ok: true, detail: 'not fenced' };
      const ends = standing.kind === 'standing' ? '' : ', until the controller has heard of it';
      return { ok: true, detail: `${describeFence(node, standing.fence)}: it takes no VMs${ends}` };
    },
    done: run(),
  };
};
