import type { KubePort } from '../../../activities/kube/port.ts';
import type { Rest } from '../../../activities/kube/rest.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { Informer } from '../../../workers/shared/informer.ts';
import { createLogger } from '../../../workers/shared/logging.ts';
import { until } from '../../support/until.ts';

/** What is done to a VM, in turns: each ends as it began, so that any number of rounds can follow. */
export const ACTIONS = ['restart', 'stop', 'start'] as const;
export type Action = (typeof ACTIONS)[number];

/** The n-th action on a VM that runs at first. */
export const actionAt = (n: number): Action => ACTIONS[n % ACTIONS.length] ?? 'restart';

export interface Cycle {
  /** Carries it out as a user asks for it, and waits for its end. @throws Error when that does not come in time */
  act(name: string, action: Action): Promise<void>;
  close(): void;
}

/** For one action. */
export const ACTION_TIMEOUT_MS = 300_000;

/** Starts, stops and restarts VMs of a namespace by the API server's front door. */
export async function openCycle(kube: KubePort, rest: Rest, namespace: string): Promise<Cycle> {
  const stopped = new AbortController();
  const instances = new Map<string, VirtualMachineInstance>();
  const informer = new Informer({
    ...{ rest, namespace, kind: 'VirtualMachineInstance', log: createLogger('soak', 'silent') },
    onChange: ({ before, after }) => {
      const name = (after ?? before)?.metadata?.name ?? '';
      if (after !== undefined) instances.set(name, after);
      else if (instances.get(name)?.metadata?.uid === before?.metadata?.uid) instances.delete(name);
    },
  });
  void informer.run(stopped.signal);
  await informer.synced;
  const isRunning = (name: string): boolean => {
    const vmi = instances.get(name);
    return vmi?.status?.phase === 'Running' && vmi.metadata?.deletionTimestamp === undefined;
  };
  const wait = (what: string, holds: () => boolean): Promise<boolean> =>
    until(what, holds, { timeoutMs: ACTION_TIMEOUT_MS, everyMs: 200 });
  const strategy = (name: string, runStrategy: string): Promise<unknown> =>
    kube.mergePatch('VirtualMachine', { namespace, name }, { spec: { runStrategy } });
  const acts: Record<Action, (name: string) => Promise<unknown>> = {
    stop: async (name) => {
      await strategy(name, 'Halted');
      await wait(`VM ${name} stopped`, () => !instances.has(name));
    },
    start: async (name) => {
      await strategy(name, 'Always');
      await wait(`VM ${name} started`, () => isRunning(name));
    },
    restart: async (name) => {
      const before = instances.get(name)?.metadata?.uid;
      const path = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/virtualmachines/${name}/restart`;
      await rest.send({ method: 'PUT', path, body: {} });
      const isAnother = (): boolean => instances.get(name)?.metadata?.uid !== before && isRunning(name);
      await wait(`VM ${name} restarted`, isAnother);
    },
  };
  return {
    act: async (name, action) => void (await acts[action](name)),
    close: () => stopped.abort(),
  };
}
