import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { getObject } from '../e2e/support/kubectl.ts';
import { SYSTEM_NAMESPACE, systemPods } from '../e2e/support/pods.ts';
import { guestSpec, NAMESPACE } from '../e2e/support/vms.ts';
import type { Figure } from './figures.ts';
import { median } from './figures.ts';

const RATE_PER_SECOND = 50;
const PORT = 9443;
const HOST = 'virtflow-api.virtflow.svc';

/** What the API server asks when a VM and a VMI are created. */
const REVIEWS = [
  { path: '/mutate/virtualmachines', kind: 'VirtualMachine' },
  { path: '/validate/virtualmachines', kind: 'VirtualMachine' },
  { path: '/mutate/virtualmachineinstances', kind: 'VirtualMachineInstance' },
  { path: '/validate/virtualmachineinstances', kind: 'VirtualMachineInstance' },
] as const;

const reviewOf = (kind: (typeof REVIEWS)[number]['kind']): string => {
  const spec = guestSpec({ network: true });
  const object = {
    ...{ apiVersion: 'kubevirt.io/v1', kind, metadata: { name: 'bench-admission', namespace: NAMESPACE } },
    spec: kind === 'VirtualMachine' ? { runStrategy: 'Halted', template: { spec } } : spec,
  };
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      ...{ uid: 'bench', kind: { group: 'kubevirt.io', version: 'v1', kind }, operation: 'CREATE', dryRun: true },
      ...{ name: 'bench-admission', namespace: NAMESPACE, userInfo: { username: 'bench' }, object },
    },
  });
};

const answer = z.object({ response: z.object({ allowed: z.literal(true) }) });

/**
 * Admission as the API server has it: AdmissionReviews over TLS connections that stay open, at a fixed rate, each timed from when it was due. So that one that
 * is late makes those behind it late too.
 * @param seconds how long
 */
export async function benchAdmission(seconds: number, progress: (text: string) => void): Promise<Figure[]> {
  const [pod] = await systemPods('controller');
  const bundle = await getObject<{ data: Record<string, string> }>('configmap', 'virtflow-ca-bundle', SYSTEM_NAMESPACE);
  const agent = new Agent({ keepAlive: true });
  const to = { host: pod?.status?.podIP, port: PORT, servername: HOST, ca: bundle?.data['ca.crt'], agent };
  const reviews = REVIEWS.map(({ path, kind }) => ({ path, body: reviewOf(kind) }));
  const ask = async (n: number, due: number): Promise<number> => {
    const { path, body } = reviews[n % reviews.length] ?? { path: '', body: '' };
    const asked = request({ ...to, method: 'POST', path, headers: { 'content-type': 'application/json' } });
    asked.end(body);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    answer.parse(JSON.parse(await text(response)));
    return performance.now() - due;
  };
  /** What the way there and the machine take, without any work. */
  const reach = async (due: number): Promise<number> => {
    const asked = request({ ...to, path: '/validate/nothing' });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    await text(response);
    return performance.now() - due;
  };
  const load = async (count: number, one: (n: number, due: number) => Promise<number>): Promise<number[]> => {
    const begin = performance.now();
    const taken: Promise<number>[] = [];
    for (let n = 0; n < count; n += 1) {
      const due = begin + (n * 1000) / RATE_PER_SECOND;
      await delay(Math.max(0, due - performance.now()));
      taken.push(one(n, due));
    }
    return Promise.all(taken);
  };
  try {
    progress('admission: warming up');
    await load(RATE_PER_SECOND * 3, ask);
    progress(`admission: ${RATE_PER_SECOND} requests/s for ${seconds} s`);
    const empty = await load((RATE_PER_SECOND * seconds) / 3, (_, due) => reach(due));
    const taken = await load(RATE_PER_SECOND * seconds, ask);
    return [
      { name: 'an empty request at the front door, P99', value: p99(empty), unit: 'ms' },
      { name: `admission at ${RATE_PER_SECOND} requests/s, P50`, value: median(taken), unit: 'ms' },
      { name: `admission at ${RATE_PER_SECOND} requests/s, P99`, value: p99(taken), unit: 'ms', limit: 20 },
    ];
  } finally {
    agent.destroy();
  }
}

const p99 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? NaN;
