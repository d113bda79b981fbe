import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { controllerActivities } from '../../../activities/controller/index.ts';
import type { ControllerPorts } from '../../../activities/controller/index.ts';
import { refOf } from '../../../activities/facts/virtual-machine.ts';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { ControllerActivities, InstanceReport } from '../../../api/contract/activities.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { effectiveConfiguration } from '../../../api/cluster-config/index.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import { aroundOf } from '../../../workers/controller/informers/around.ts';
import type { Informers } from '../../../workers/controller/informers/informers.ts';
import { createInformers } from '../../../workers/controller/informers/informers.ts';
import { Informer } from '../../../workers/shared/informer.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { noWorkflows } from '../../support/no-workflows.ts';
import { until } from '../../support/until.ts';

/** What a start asks of the API server, with watches as a controller worker has them; and what it does when these are behind. */

const log = pino({ level: 'silent' });
const stopped = new AbortController();
let server: TestApiServer;
let kube: KubePort;
let informers: Informers;
let around: NonNullable<ControllerPorts['around']>;
const asked: string[] = [];

beforeAll(async () => {
  server = await startApiServer();
  kube = kubeClient(server.rest);
  informers = createInformers(server.rest, log, () => undefined);
  const namespaces = new Informer({ rest: server.rest, kind: 'Namespace', log, onChange: () => undefined });
  const all = [...Object.values(informers), namespaces];
  for (const informer of all) void informer.run(stopped.signal);
  await Promise.all(all.map(({ synced }) => synced));
  around = aroundOf(informers, namespaces);
  await kube.create('Node', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } });
}, 120_000);
afterAll(async () => {
  stopped.abort();
  await server.close();
}, 30_000);

/** Notes each request as "get Lease"; events are created beside. */
const counted = (of: KubePort): KubePort =>
  new Proxy(of, {
    get:
      (port, verb: keyof KubePort) =>
      (...args: unknown[]): unknown => {
        if (verb !== 'event') asked.push(`${verb} ${String(args[0])}`);
        return (port[verb] as (...args: unknown[]) => unknown)(...args);
      },
  });

const activitiesWith = (more: Partial<ControllerPorts> = {}): ControllerActivities => {
  const config = effectiveConfiguration({
    spec: { configuration: { network: { defaultNetworkInterface: 'masquerade' } } } as object,
  });
  return controllerActivities({
    ...{ kube: counted(kube), workflows: noWorkflows, config: () => config, launcherImage: 'virtflow/launcher:test' },
    cached: (kind, uid) => informers[kind].get(uid),
    ...{ around, clock: () => new Date(), log },
    ...more,
  });
};

/** What was asked meanwhile, in the order of the alphabet. */
const requestsOf = async <T>(run: () => Promise<T>): Promise<{ value: T; requests: string[] }> => {
  asked.length = 0;
  const value = await run();
  return { value, requests: [...asked].sort() };
};

const newVm = async (name: string): Promise<ObjectRef> => {
  const vm: VirtualMachine = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'default', name },
    spec: {
      runStrategy: 'Always',
      template: { spec: { domain: { memory: { guest: '128Mi' }, devices: {} } } },
    },
  };
  const ref = refOf(await kube.create('VirtualMachine', vm));
  await seen('VirtualMachine', ref.uid);
  return ref;
};
const seen = (kind: 'VirtualMachine' | 'VirtualMachineInstance' | 'Pod', uid: string): Promise<unknown> =>
  until(`a watch shows ${kind} ${uid}`, () => informers[kind].has(uid), { timeoutMs: 10_000, everyMs: 20 });

const runningIn = (vmi: ObjectRef, podUid: string): InstanceReport => ({
  ...{ phase: 'Running', phaseTimes: [], activePods: { [podUid]: 'node-a' }, node: 'node-a' },
  conditions: [{ type: 'Ready', status: 'True' }],
  domain: {
    ...{ vmi, podUid, node: 'node-a', sequence: { epoch: 1, n: 1 }, at: '2026-01-01T00:00:09Z' },
    ...{ state: 'running', agent: { connected: false } },
  },
});

test('a first start asks for little: reads are what safety needs, and nothing is read only to be written', async () => {
  const activities = activitiesWith();
  const vm = await newVm('first');
  const { value: instance, requests: creating } = await requestsOf(() => activities.createInstance({ vm }));
  expect(creating).toEqual(['create ControllerRevision', 'create VirtualMachineInstance', 'mergePatch VirtualMachine']);
  const { vmi } = instance;
  await seen('VirtualMachineInstance', vmi.uid);
  const { value: adopted, requests: adopting } = await requestsOf(() => activities.adoptInstance(vmi));
  expect(adopting).toEqual(['get Lease', 'get VirtualMachineInstance']);
  expect(adopted).toMatchObject({ instance: { vmi }, pods: [] });
  const { requests: checking } = await requestsOf(() =>
    Promise.all([activities.admitInstance(vmi), activities.checkVolumes(vmi)]),
  );
  expect(checking).toEqual([]);
  const { value: token, requests: acquiring } = await requestsOf(() => activities.acquireToken({ vmi, attempt: 1 }));
  expect(acquiring).toEqual(['create Lease', 'list Pod']);
  const { epoch } = token;
  const attempt = { vmi, attempt: 1, epoch };
  const { value: pod, requests: podMaking } = await requestsOf(() => activities.ensureLauncherPod(attempt));
  expect(podMaking).toEqual(['create Pod']);
  const place = { name: pod.name, uid: pod.uid, node: 'node-a' };
  const { requests: binding } = await requestsOf(() => activities.bindToken({ vmi, epoch, pod: place }));
  expect(binding).toEqual(['replace Lease']);

  await kube.mergePatch(
    'Pod',
    { namespace: 'default', name: pod.name },
    { status: { podIP: '10.0.0.9', podIPs: [{ ip: '10.0.0.9' }] } },
    { subresource: 'status' },
  );
  await until('a watch shows its address', () => informers.Pod.get(pod.uid)?.status?.podIP !== undefined, {
    timeoutMs: 10_000,
    everyMs: 20,
  });
  const report = runningIn(vmi, pod.uid);
  const { requests: telling } = await requestsOf(() => activities.publishInstance({ vmi, report }));
  expect(telling).toEqual(['mergePatch Pod', 'mergePatch VirtualMachineInstance']);
  expect((await kube.get('VirtualMachineInstance', vmi))?.metadata?.managedFields).toBeUndefined();
});

test('a VM that changed since a watch has shown it is read before anything is made of it', async () => {
  const vm = await newVm('changed');
  const old = informers.VirtualMachine.get(vm.uid);
  await kube.mergePatch('VirtualMachine', vm, {
    spec: { template: { spec: { domain: { memory: { guest: '256Mi' } } } } },
  });
  const activities = activitiesWith({
    cached: ((kind: string) => (kind === 'VirtualMachine' ? old : undefined)) as never,
  });
  const { vmi } = await activities.createInstance({ vm });
  expect((await kube.get('VirtualMachineInstance', vmi))?.spec.domain.memory).toMatchObject({ guest: '256Mi' });
});

test('a VM whose instance no watch has shown yet takes that over', async () => {
  const vm = await newVm('orphan');
  const template = { domain: { memory: { guest: '128Mi' }, devices: {} } };
  const orphan = await kube.create('VirtualMachineInstance', {
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', spec: template },
    metadata: { namespace: 'default', name: vm.name },
  });
  const { vmi, owner } = await activitiesWith().createInstance({ vm });
  expect({ uid: vmi.uid, owner: owner?.uid }).toEqual({ uid: orphan.metadata?.uid, owner: vm.uid });
});

test('whoever lost the token to another controller worker neither binds nor keeps it', async () => {
  const [ours, others] = [activitiesWith(), activitiesWith()];
  const { vmi } = await ours.createInstance({ vm: await newVm('lost') });
  const { epoch } = await ours.acquireToken({ vmi, attempt: 1 });
  await others.releaseToken({ vmi });
  await others.acquireToken({ vmi, attempt: 2 });
  const pod = { name: 'p', uid: 'u', node: 'node-a' };
  await expect(ours.bindToken({ vmi, epoch, pod })).rejects.toMatchObject({ type: 'StaleToken' });
  await expect(ours.acquireToken({ vmi, attempt: 1 })).rejects.toMatchObject({ type: 'StaleToken' });
  await ours.releaseToken({ vmi, epoch });
  await expect(others.readToken(vmi)).resolves.toMatchObject({ epoch: 2, holder: { attempt: 2 } });
});

test('a token that was removed by hand after it was taken is not bound', async () => {
  const activities = activitiesWith();
  const { vmi } = await activities.createInstance({ vm: await newVm('removed') });
  const { epoch } = await activities.acquireToken({ vmi, attempt: 1 });
  const name = { namespace: 'default', name: 'virtflow-removed' };
  await kube.remove('Lease', name, { uid: (await kube.get('Lease', name))?.metadata?.uid ?? '' });
  const pod = { name: 'p', uid: 'u', node: 'node-a' };
  await expect(activities.bindToken({ vmi, epoch, pod })).rejects.toMatchObject({ type: 'StaleToken' });
});

test('an instance of which nobody remembers a start is asked for its Pods when a watch has shown one', async () => {
  const activities = activitiesWith();
  const { vmi } = await activities.createInstance({ vm: await newVm('forgotten') });
  const { epoch } = await activities.acquireToken({ vmi, attempt: 1 });
  const pod = await activities.ensureLauncherPod({ vmi, attempt: 1, epoch });
  await seen('Pod', pod.uid);
  const name = { namespace: 'default', name: 'virtflow-forgotten' };
  await kube.remove('Lease', name, { uid: (await kube.get('Lease', name))?.metadata?.uid ?? '' });
  await expect(activities.adoptInstance(vmi)).resolves.toMatchObject({ pods: [{ uid: pod.uid }] });
});
