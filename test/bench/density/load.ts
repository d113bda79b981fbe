import { setTimeout as delay } from 'node:timers/promises';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { Rest } from '../../../activities/kube/rest.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import { Informer } from '../../../workers/shared/informer.ts';
import { createLogger } from '../../../workers/shared/logging.ts';
import { until } from '../../support/until.ts';

export const NAMESPACE = 'density';

/** VMs per second, or all at once. */
export type Rate = number | 'burst';

/** A VM without disks: no image has to come from anywhere. */
const densityVm = (name: string): VirtualMachine => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name, namespace: NAMESPACE },
  spec: {
    runStrategy: 'Always',
    template: {
      spec: {
        terminationGracePeriodSeconds: 30,
        domain: {
          memory: { guest: '128Mi' },
          devices: { interfaces: [{ name: 'default', masquerade: {} }] },
        },
        networks: [{ name: 'default', pod: {} }],
      },
    },
  },
});

export interface Started {
  /** From each VM's request to a watch's word that its VMI is Running, in ms. */
  latencies: number[];
  /** When the first VM was asked for and the last VMI ran, in ms since 1970. */
  from: number;
  to: number;
}

/** VMs, and what became of their VMIs, as watches tell it. */
export class Load {
  readonly #kube: KubePort;
  readonly #stopped = new AbortController();
  readonly #informers;
  readonly #runningAt = new Map<string, number>();

  constructor(kube: KubePort, rest: Rest) {
    this.#kube = kube;
    const log = createLogger('bench', 'silent');
    const scope = { rest, namespace: NAMESPACE, log };
    this.#informers = {
      vms: new Informer({ ...scope, kind: 'VirtualMachine', onChange: () => undefined }),
      vmis: new Informer({
        ...scope,
        kind: 'VirtualMachineInstance',
        onChange: ({ after }) => {
          const name = after?.metadata?.name ?? '';
          if (after?.status?.phase === 'Running' && !this.#runningAt.has(name)) this.#runningAt.set(name, Date.now());
        },
      }),
      pods: new Informer({ ...scope, kind: 'Pod', onChange: () => undefined }),
    };
  }

  async open(): Promise<void> {
    const all = Object.values(this.#informers);
    for (const informer of all) void informer.run(this.#stopped.signal);
    await Promise.all(all.map(({ synced }) => synced));
  }

  close(): void {
    this.#stopped.abort();
  }

  /** Creates VMs at a fixed rate, whatever the answers take, and waits until all their VMIs run. @throws Error when one does not within the time */
  async start(prefix: string, count: number, rate: Rate, timeoutMs: number): Promise<Started> {
    const names = Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
    const askedAt = new Map<string, number>();
    const from = Date.now();
    const create = async (name: string): Promise<void> => {
      askedAt.set(name, Date.now());
      await this.#kube.create('VirtualMachine', densityVm(name));
    };
    const created: Promise<void>[] = [];
    for (const [n, name] of names.entries()) {
      if (rate !== 'burst') await delay(Math.max(0, from + (n * 1000) / rate - Date.now()));
      created.push(create(name));
    }
    await Promise.all(created);
    const missing = (): string[] => names.filter((name) => !this.#runningAt.has(name));
    await until(`${count} VMIs Running`, () => missing().length === 0, {
      ...{ timeoutMs, everyMs: 100 },
      seen: () => `${missing().length} are not, such as ${missing()[0]}`,
    });
    const latencies = names.map((name) => (this.#runningAt.get(name) ?? NaN) - (askedAt.get(name) ?? NaN));
    return { latencies, from, to: Math.max(...names.map((name) => this.#runningAt.get(name) ?? NaN)) };
  }

  /** Deletes every VM at once; ms until no VM, VMI or Pod is left. */
  async deleteAll(timeoutMs: number): Promise<number> {
    const from = Date.now();
    const { vms, vmis, pods } = this.#informers;
    await Promise.all(
      vms
        .list()
        .map(({ metadata }) =>
          this.#kube.remove(
            'VirtualMachine',
            { namespace: NAMESPACE, name: metadata?.name ?? '' },
            { uid: metadata?.uid ?? '' },
          ),
        ),
    );
    const left = (): number => vms.list().length + vmis.list().length + pods.list().length;
    await until('nothing is left', () => left() === 0, { timeoutMs, everyMs: 100, seen: () => `${left()} objects` });
    this.#runningAt.clear();
    return Date.now() - from;
  }
}
