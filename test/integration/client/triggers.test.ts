import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { instanceFacts } from '../../../activities/facts/instance.ts';
import { refOf, virtualMachineFacts } from '../../../activities/facts/virtual-machine.ts';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import { workflowClient } from '../../../activities/temporal/client.ts';
import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { EntityStatus } from '../../../api/contract/entities.ts';
import { instanceObserved, virtualMachineObserved } from '../../../api/contract/entities.ts';
import type { OperationStatus } from '../../../api/contract/operations.ts';
import { WORKFLOWS } from '../../../api/contract/operations.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';
import { virtualMachineId } from '../../../api/contract/refs.ts';
import { DEFAULT_TEMPORAL_NAMESPACE } from '../../../api/contract/search-attributes.ts';
import { CONTROLLER_QUEUE } from '../../../api/contract/task-queues.ts';
import type { Triggered } from '../../../api/contract/triggers.ts';
import { triggerId } from '../../../api/contract/triggers.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import { setUpServer } from '../../../cli/temporal/setup.ts';
import { virtflowClient } from '../../../client/index.ts';
import { maintenanceService } from '../../../examples/maintenance/service.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { activitiesOn } from '../../support/controller-activities.ts';
import { bundleWorkflows } from '../../support/temporal.ts';
import type { TestTemporalServer } from '../../support/temporal-server.ts';
import { startTemporalServer } from '../../support/temporal-server.ts';
import { until } from '../../support/until.ts';

/** Triggers on a real API server and a real Temporal. The test plays bridge and nodes: it tells the entity of objects, and says what runs. */
const namespace = 'default';
let api: TestApiServer;
let temporal: TestTemporalServer;
let kube: KubePort;
let connection: Connection;
let native: NativeConnection;
let client: Client;
let activities: ControllerActivities;
let worker: Worker;
let running: Promise<void>;
let service: Server;

beforeAll(async () => {
  [api, temporal] = await Promise.all([startApiServer(), startTemporalServer()]);
  kube = kubeClient(api.rest);
  const { address } = temporal;
  connection = await Connection.connect({ address });
  client = new Client({ connection, namespace: DEFAULT_TEMPORAL_NAMESPACE });
  await setUpServer({ client, connection, address, namespace: DEFAULT_TEMPORAL_NAMESPACE }, 1);
  native = await NativeConnection.connect({ address });
  activities = activitiesOn(kube, { workflows: workflowClient(client) });
  worker = await Worker.create({
    ...{ connection: native, namespace: DEFAULT_TEMPORAL_NAMESPACE, taskQueue: CONTROLLER_QUEUE, activities },
    workflowBundle: await bundleWorkflows(),
  });
  running = worker.run();
  service = maintenanceService(virtflowClient(client)).listen(0, '127.0.0.1');
  await once(service, 'listening');
}, 120_000);
afterAll(async () => {
  service.close();
  worker.shutdown();
  await running;
  await native.close();
  await connection.close();
  await Promise.all([api.close(), temporal.close()]);
}, 60_000);

const spec = { domain: { memory: { guest: '64Mi' }, devices: {} }, terminationGracePeriodSeconds: 20 };
const newVm = async (name: string, runStrategy: string): Promise<ObjectRef> => {
  const vm = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { namespace, name } };
  return refOf(await kube.create('VirtualMachine', { ...vm, spec: { runStrategy, template: { spec } } }));
};
const vmOf = async (vm: ObjectRef): Promise<VirtualMachine> => (await kube.get('VirtualMachine', vm)) ?? never();
const vmiOf = async (vm: ObjectRef) => (await kube.get('VirtualMachineInstance', vm)) ?? never();
const never = (): never => {
  throw new Error('it is gone');
};
/** As the bridge does. */
const tell = async (vm: ObjectRef): Promise<void> => {
  const workflowId = virtualMachineId(vm);
  await client.workflow.signalWithStart(WORKFLOWS.virtualMachine, {
    ...{ workflowId, taskQueue: CONTROLLER_QUEUE, args: [{ ref: vm }] },
    ...{ signal: virtualMachineObserved, signalArgs: [virtualMachineFacts(await vmOf(vm))] },
  });
  const vmi = await kube.get('VirtualMachineInstance', vm);
  if (vmi !== undefined) await client.workflow.getHandle(workflowId).signal(instanceObserved, instanceFacts(vmi));
};
const untilPhase = (vm: ObjectRef, phase: string) =>
  until(`its entity says ${phase}`, async () => {
    await tell(vm);
    const status = await client.workflow.getHandle(virtualMachineId(vm)).query<EntityStatus>('entityStatus');
    return status.phase === phase;
  });
/** What the instance's entity and its node would do. */
const runs = async (vm: ObjectRef): Promise<string> => {
  const vmi = await until('an instance', () => kube.get('VirtualMachineInstance', vm));
  await kube.mergePatch('VirtualMachineInstance', vm, { status: { phase: 'Running', nodeName: 'node-a' } });
  await untilPhase(vm, 'Running');
  return vmi.metadata?.uid ?? '';
};
const http = async (method: string, path: string, key?: string) => {
  const { port } = service.address() as AddressInfo;
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
};

describe('the activity', () => {
  const trigger = (vm: ObjectRef, action: Triggered['action'], instance: string, options = {}): Triggered => ({
    ...{ operationId: triggerId(vm, action, 'k'), action, options, vm, instance },
  });
  const withInstance = async (name: string, runStrategy: string): Promise<[ObjectRef, string]> => {
    const vm = await newVm(name, runStrategy);
    const { vmi } = await activities.createInstance({ vm });
    await kube.mergePatch('VirtualMachineInstance', vm, { status: { phase: 'Running' } });
    return [vm, vmi.uid];
  };

  test('starts a halted VM in the field that it uses, and finds that done', async () => {
    const vm = await newVm('halted', 'Halted');
    expect(await activities.performTrigger(trigger(vm, 'start', ''))).toEqual({
      message: 'VirtualMachine: runStrategy set',
    });
    expect((await vmOf(vm)).spec.runStrategy).toBe('Always');
    expect((await activities.performTrigger(trigger(vm, 'start', ''))).message).toContain('is to run');
  });

  test('asks for a restart once, and never of the next instance', async () => {
    const [vm, uid] = await withInstance('restarted', 'Manual');
    await activities.performTrigger(trigger(vm, 'restart', uid, { gracePeriodSeconds: 0 }));
    await activities.performTrigger(trigger(vm, 'restart', uid, { gracePeriodSeconds: 0 }));
    const requests = [{ action: 'Stop', uid }, { action: 'Start' }];
    expect((await vmOf(vm)).status?.stateChangeRequests).toEqual(requests);
    expect((await vmiOf(vm)).spec.terminationGracePeriodSeconds).toBe(1);
    await kube.mergePatch('VirtualMachine', vm, { status: { stateChangeRequests: null } }, { subresource: 'status' });
    const other = await activities.performTrigger(trigger(vm, 'restart', 'another'));
    expect(other.message).toContain('came after it');
    expect((await vmOf(vm)).status?.stateChangeRequests).toBeUndefined();
  });

  test('takes a shortened grace period back when the VM does not take the rest', async () => {
    const [vm, uid] = await withInstance('taken-back', 'Manual');
    const patch = kube.jsonPatch.bind(kube);
    const failing: KubePort = {
      ...kube,
      jsonPatch: (kind, ...rest) =>
        kind === 'VirtualMachine' ? Promise.reject(new Error('the wire was cut')) : patch(kind, ...rest),
    };
    const cut = activitiesOn(failing).performTrigger(trigger(vm, 'stop', uid, { gracePeriod: 3 }));
    await expect(cut).rejects.toThrow('the wire was cut');
    expect((await vmiOf(vm)).spec.terminationGracePeriodSeconds).toBe(20);
  });

  test('creates one migration, and refuses one of an instance that has ended', async () => {
    const [vm, uid] = await withInstance('migrated', 'Always');
    const options = { addedNodeSelector: { zone: 'east' } };
    const [one, two] = [
      await activities.performTrigger(trigger(vm, 'migrate', uid, options)),
      await activities.performTrigger(trigger(vm, 'migrate', uid, options)),
    ];
    expect(two).toEqual(one);
    const vmim = await kube.get('VirtualMachineInstanceMigration', one.vmim ?? never());
    expect(vmim).toMatchObject({
      metadata: { annotations: { 'virtflow.io/triggered-by': triggerId(vm, 'migrate', 'k') } },
      spec: { vmiName: 'migrated', ...options },
    });
    const late = { ...trigger(vm, 'migrate', 'before'), operationId: 'late' };
    await expect(activities.performTrigger(late)).rejects.toMatchObject({ type: 'Refused' });
  });

  test('refuses what the front door refuses, options that make no sense, and a VM that is gone', async () => {
    const [vm, uid] = await withInstance('refusing', 'Once');
    const restart = activities.performTrigger(trigger(vm, 'restart', uid));
    await expect(restart).rejects.toMatchObject({ type: 'Refused', nonRetryable: true });
    const odd = activities.performTrigger(trigger(vm, 'stop', uid, { gracePeriod: 'soon' }));
    await expect(odd).rejects.toMatchObject({ type: 'Refused', message: expect.stringContaining('gracePeriod') });
    const gone = activities.performTrigger(trigger({ ...vm, uid: 'v0' }, 'stop', uid));
    await expect(gone).rejects.toMatchObject({ type: 'ObjectGone' });
  });
});

test('a service restarts a VM by name: accepted at once, one restart for one key, the outcome on asking', async () => {
  const vm = await newVm('web', 'Always');
  await tell(vm);
  const first = await runs(vm);
  const path = `/vms/${namespace}/web/restart`;
  const accepted = await until('visibility knows it', async () => {
    const answer = await http('POST', path, 'window-7');
    return answer.status === 202 ? answer : undefined;
  });
  expect((await http('POST', path, 'window-7')).body).toEqual(accepted.body);
  const operation = accepted.headers.get('location') ?? never();
  await until('a restart is requested', async () => (await vmOf(vm)).status?.stateChangeRequests?.length === 2);
  expect((await http('GET', operation)).body).toMatchObject({ outcome: 'underWay', phase: 'Awaiting' });
  await tell(vm);
  await until('the old one is deleted', async () => (await vmiOf(vm)).metadata?.deletionTimestamp !== undefined);
  await activities.releaseInstance({ vmi: { ...vm, uid: first } });
  const old = { ...instanceFacts(await vmiOfPast(vm, first)), gone: true };
  await client.workflow.getHandle(virtualMachineId(vm)).signal(instanceObserved, old);
  const second = await runs(vm);
  expect(second).not.toBe(first);
  const { body } = await http('GET', `${operation}?wait=20`);
  expect(body).toMatchObject({ outcome: 'succeeded', instance: second, node: 'node-a' });
});

/** What is left to tell of an instance whose object is gone. */
const vmiOfPast = async (vm: ObjectRef, uid: string) => ({
  ...(await Promise.resolve({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', spec })),
  metadata: {
    ...{ ...vm, uid, deletionTimestamp: '2026-01-01T00:00:00Z' },
    ownerReferences: [
      { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: vm.name, uid: vm.uid, controller: true },
    ],
  },
});

test('the service says what is wrong', async () => {
  expect(await http('POST', `/vms/${namespace}/nobody/restart`, 'k')).toMatchObject({ status: 404 });
  expect(await http('POST', `/vms/${namespace}/web/delete`, 'k')).toMatchObject({ status: 404 });
  expect(await http('POST', `/vms/${namespace}/web/restart`)).toMatchObject({ status: 400 });
  expect(await http('POST', '/vms/%E0%A4%A/web/restart', 'k')).toMatchObject({ status: 400 });
  const vm = await newVm('off', 'Halted');
  await tell(vm);
  const refused = await until('visibility knows it', async () => {
    const answer = await http('POST', `/vms/${namespace}/off/restart`, 'k');
    return answer.status === 404 ? undefined : answer;
  });
  expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining('manual restart requests') } });
});

test('an operation that Temporal does not know is told apart', async () => {
  const unknown = virtflowClient(client).operation('trigger/none/start/x');
  await expect(unknown.outcome()).rejects.toMatchObject({ code: 'OperationNotFound' });
  await expect(unknown.status()).rejects.toMatchObject({ code: 'OperationNotFound' });
}, 40_000);

test('without a controller worker there is no answer, and nothing is accepted', async () => {
  const vm = { namespace, name: 'unheard', uid: 'v-unheard' };
  const workflowId = virtualMachineId(vm);
  await client.workflow.start(WORKFLOWS.virtualMachine, { workflowId, taskQueue: 'nobody', args: [{ ref: vm }] });
  const impatient = virtflowClient(client, { answerWithinMs: 500 });
  const asked = impatient.virtualMachine(vm).stop({ key: 'k' });
  await expect(asked).rejects.toMatchObject({ code: 'NoAnswer', message: expect.stringContaining('same key') });
});

test('while the API server is down a request is accepted; it is carried out when the server is back', async () => {
  const vm = await newVm('patient', 'Halted');
  await tell(vm);
  await until('it is looked at', async () => (await vmOf(vm)).status?.printableStatus === 'Stopped');
  await api.kill();
  const operation = await virtflowClient(client).virtualMachine(vm).start({ key: 'k' });
  const status = await until('it waits', async () => {
    const told: OperationStatus = await operation.status();
    return told.steps[0]?.state === 'waiting' ? told : undefined;
  });
  expect(status.steps[0]?.failure?.message).toContain('the API server did not answer');
  await api.start();
  await until('it is switched on', async () => (await vmOf(vm)).spec.runStrategy === 'Always');
  await tell(vm);
  const uid = await runs(vm);
  expect(await operation.outcome()).toMatchObject({ outcome: 'succeeded', instance: uid });
});
