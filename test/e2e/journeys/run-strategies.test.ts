import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import { killInPod } from '../../../deploy/local/pod-processes.ts';
import { until } from '../../support/until.ts';
import { kubectl, virtflow } from '../support/kubectl.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import { launcherPod, launcherPods } from '../support/pods.ts';
import {
  NAMESPACE,
  condition,
  createVm,
  deleteVm,
  getVm,
  getVmi,
  setRunStrategy,
  untilObject,
  untilRunning,
  untilStopped,
} from '../support/vms.ts';
import { watchObject } from '../support/watch.ts';

jest.setTimeout(300_000);

type Request = NonNullable<NonNullable<VirtualMachine['status']>['stateChangeRequests']>[number];

const patch = (name: string, change: object, ...options: string[]): Promise<string> =>
  kubectl(['patch', 'vm', name, '-n', NAMESPACE, '--type=merge', ...options, '-p', JSON.stringify(change)]);
/** Appends to the VM's list of requests, as the front door does. */
const ask = async (name: string, ...requests: Request[]): Promise<void> => {
  const queued = (await getVm(name))?.status?.stateChangeRequests ?? [];
  await patch(name, { status: { stateChangeRequests: [...queued, ...requests] } }, '--subresource=status');
};
const stopOf = async (name: string, data?: Record<string, string>): Promise<Request> => ({
  ...{ action: 'Stop', uid: (await getVmi(name))?.metadata?.uid ?? '' },
  ...(data === undefined ? {} : { data }),
});
const untilServed = (name: string): Promise<VirtualMachine> =>
  untilObject(
    `no request of ${name} is left`,
    () => getVm(name),
    ({ status }) => (status?.stateChangeRequests ?? []).length === 0,
    30_000,
  );
const untilWord = (name: string, word: string): Promise<VirtualMachine> =>
  untilObject(
    `VM ${name} ${word}`,
    () => getVm(name),
    ({ status }) => status?.printableStatus === word,
    120_000,
  );
const untilOther = async (name: string, uid: string | undefined): Promise<string> =>
  (await untilObject(
    `another VMI of ${name} runs`,
    () => getVmi(name),
    ({ metadata, status }) => metadata?.uid !== uid && status?.phase === 'Running',
    120_000,
  ).then(({ metadata }) => metadata?.uid)) ?? '';
/** Every printableStatus that the API server tells while something goes on. */
const wordsDuring = async (name: string, run: () => Promise<unknown>): Promise<string[]> => {
  const watch = watchObject<VirtualMachine>('vm', name, NAMESPACE);
  try {
    await until('the watch began', () => watch.seen.length > 0);
    await run();
  } finally {
    await watch.stop();
  }
  const words = watch.seen.map(({ object }) => object.status?.printableStatus ?? '');
  console.log(`${name}: ${words.join(', ')}`);
  return words;
};
const killQemu = async (name: string): Promise<void> => {
  const { metadata } = await launcherPod((await getVmi(name))?.metadata?.uid ?? '');
  await killInPod(metadata?.uid ?? '', /qemu-system/);
};
const eventsOf = async (name: string): Promise<string[]> =>
  (
    await kubectl([
      ...['get', 'events', '-n', NAMESPACE, '--field-selector', `involvedObject.name=${name}`],
      ...['-o', `jsonpath={range .items[*]}{.reason}: {.message}{"\\n"}{end}`],
    ])
  ).split('\n');

beforeAll(() => ensureNamespace(NAMESPACE));

describe('Manual', () => {
  const NAME = 'manual';
  let first: string | undefined;
  beforeAll(async () => {
    await deleteVm(NAME);
    await createVm(NAME, { runStrategy: 'Manual', ignoresShutdown: true, gracePeriodSeconds: 10 });
  });
  afterAll(() => deleteVm(NAME));

  test('nothing runs before a start is asked for; then it runs, and the request is off the list with its outcome told', async () => {
    await untilWord(NAME, 'Stopped');
    expect(await getVmi(NAME)).toBeUndefined();
    await ask(NAME, { action: 'Start' });
    const { metadata, status } = await untilRunning(NAME);
    first = metadata?.uid;
    await untilServed(NAME);
    const vm = await getVm(NAME);
    const { generation = 0, uid } = vm?.metadata ?? {};
    expect(status?.virtualMachineRevisionName).toBe(`revision-start-vm-${uid}-${generation}`);
    expect(vm?.status).toMatchObject({ observedGeneration: generation, desiredGeneration: generation });
    await until('its outcome is told', async () =>
      (await eventsOf(NAME)).some((event) => event.startsWith('RequestServed: Request Start is served')),
    );
  });

  test('a start while it stops ends running, and it never looks stopped', async () => {
    const words = await wordsDuring(NAME, async () => {
      await ask(NAME, await stopOf(NAME));
      await untilWord(NAME, 'Stopping');
      await ask(NAME, { action: 'Start' });
      first = await untilOther(NAME, first);
      await untilWord(NAME, 'Running');
    });
    expect(words).toContain('Stopping');
    expect(words).not.toContain('Stopped');
    await untilServed(NAME);
  });

  test('a template that changes needs a restart; the restart takes it, and never looks stopped', async () => {
    await patch(NAME, { spec: { template: { spec: { domain: { memory: { guest: '144Mi' } } } } } });
    const changed = await untilObject(
      'RestartRequired',
      () => getVm(NAME),
      (vm) => condition(vm, 'RestartRequired')?.status === 'True',
      30_000,
    );
    expect(condition(changed, 'RestartRequired')?.message).toContain('spec.template.spec.domain.memory.guest');
    const words = await wordsDuring(NAME, async () => {
      await ask(NAME, await stopOf(NAME), { action: 'Start' });
      first = await untilOther(NAME, first);
      await untilWord(NAME, 'Running');
    });
    expect(words).not.toContain('Stopped');
    expect((await getVmi(NAME))?.spec.domain.memory?.guest).toBe('144Mi');
    expect(condition(await untilServed(NAME), 'RestartRequired')).toBeUndefined();
    const revisions = await kubectl(['get', 'controllerrevisions', '-n', NAMESPACE, '-o', 'name']);
    const { uid } = (await getVm(NAME))?.metadata ?? {};
    expect(revisions.split('\n').filter((line) => line.includes(`revision-start-vm-${uid}-`))).toHaveLength(1);
  });

  test('a stop under way is shortened by a later one, and it stays stopped', async () => {
    await patch(NAME, { spec: { template: { spec: { terminationGracePeriodSeconds: 240 } } } });
    await ask(NAME, await stopOf(NAME), { action: 'Start' });
    first = await untilOther(NAME, first);
    await untilServed(NAME);
    await ask(NAME, await stopOf(NAME));
    await untilWord(NAME, 'Stopping');
    const asked = Date.now();
    await ask(NAME, await stopOf(NAME, { gracePeriodSeconds: '0' }));
    await untilStopped(NAME);
    console.log(`stopped ${Date.now() - asked} ms after the grace period was shortened`);
    expect(Date.now() - asked).toBeLessThan(60_000);
    await untilServed(NAME);
    expect(await getVmi(NAME)).toBeUndefined();
  });
});

describe('Once, then RerunOnFailure', () => {
  const NAME = 'once';
  beforeAll(async () => {
    await deleteVm(NAME);
    await createVm(NAME, { runStrategy: 'Once' });
  });
  afterAll(() => deleteVm(NAME));

  test('what has run once stays as it ended', async () => {
    const { metadata } = await untilRunning(NAME);
    await killQemu(NAME);
    await untilWord(NAME, 'Stopped');
    expect(await getVmi(NAME)).toMatchObject({ metadata: { uid: metadata?.uid }, status: { phase: 'Failed' } });
  });

  test('what failed runs again; what is stopped stays so', async () => {
    const failed = (await getVmi(NAME))?.metadata?.uid;
    await setRunStrategy(NAME, 'RerunOnFailure');
    const again = await untilOther(NAME, failed);
    const words = await wordsDuring(NAME, async () => {
      await killQemu(NAME);
      await untilOther(NAME, again);
      await untilWord(NAME, 'Running');
    });
    expect(words).not.toContain('Stopped');
    await untilServed(NAME);
    await ask(NAME, await stopOf(NAME));
    await untilStopped(NAME);
    await untilServed(NAME);
    expect(await getVmi(NAME)).toBeUndefined();
  });
});

describe('Halted', () => {
  const NAME = 'halted';
  beforeAll(async () => {
    await deleteVm(NAME);
    await createVm(NAME, { runStrategy: 'Halted' });
  });
  afterAll(() => deleteVm(NAME));

  test('asked to start paused it becomes Always, and its guest waits', async () => {
    await untilWord(NAME, 'Stopped');
    const words = await wordsDuring(NAME, async () => {
      await ask(NAME, { action: 'Start', data: { paused: 'true' } });
      await untilWord(NAME, 'Paused');
    });
    expect(words.slice(words.indexOf('Starting'))).not.toContain('Stopped');
    expect((await untilServed(NAME)).spec.runStrategy).toBe('Always');
  });

  test('deleted without its instance, and made again, it has the same instance', async () => {
    const uid = (await getVmi(NAME))?.metadata?.uid;
    await kubectl(['delete', 'vm', NAME, '-n', NAMESPACE, '--cascade=orphan', '--timeout=60s']);
    expect(await getVm(NAME)).toBeUndefined();
    expect((await getVmi(NAME))?.metadata).toMatchObject({ uid });
    await createVm(NAME);
    const { metadata } = await untilWord(NAME, 'Paused');
    expect((await getVmi(NAME))?.metadata).toMatchObject({ uid, ownerReferences: [{ uid: metadata?.uid }] });
  });
});

describe('the command line', () => {
  const NAME = 'by-command';
  beforeAll(async () => {
    await deleteVm(NAME);
    await createVm(NAME, { runStrategy: 'Manual', ignoresShutdown: true, gracePeriodSeconds: 240 });
  });
  afterAll(() => deleteVm(NAME));

  test('starts, restarts and stops a VM as its run strategy asks for, and leaves that as it is', async () => {
    await untilWord(NAME, 'Stopped');
    await virtflow(['start', NAME, '-n', NAMESPACE, '--wait']);
    const uid = (await getVmi(NAME))?.metadata?.uid;
    await virtflow(['restart', NAME, '-n', NAMESPACE]);
    await untilWord(NAME, 'Stopping');
    await ask(NAME, await stopOf(NAME, { gracePeriodSeconds: '0' }));
    await untilOther(NAME, uid);
    await virtflow(['stop', NAME, '-n', NAMESPACE, '--force', '--wait']);
    expect((await getVm(NAME))?.spec.runStrategy).toBe('Manual');
    expect((await untilServed(NAME)).status?.printableStatus).toBe('Stopped');
  });
});

describe('Always', () => {
  const NAME = 'crash-loop';
  beforeAll(async () => {
    await deleteVm(NAME);
    await createVm(NAME, { change: (spec) => (spec.nodeSelector = { 'virtflow.io/nowhere': 'true' }) });
  });
  afterAll(() => deleteVm(NAME));

  /** Its launcher Pod goes before the guest ran. */
  const failStart = async (uid?: string): Promise<string> => {
    const vmi = await untilObject(
      'a start that waits for a node',
      () => getVmi(NAME),
      async ({ metadata }) => metadata?.uid !== uid && (await launcherPods(metadata?.uid ?? '')).length === 1,
      60_000,
    );
    await untilWord(NAME, 'ErrorUnschedulable');
    const [pod] = await launcherPods(vmi.metadata?.uid ?? '');
    await kubectl(['delete', 'pod', pod?.metadata?.name ?? '', '-n', NAMESPACE, '--wait=false']);
    return vmi.metadata?.uid ?? '';
  };
  const untilFailures = (count: number): Promise<VirtualMachine> =>
    untilObject(
      `${count} failures in a row`,
      () => getVm(NAME),
      ({ status }) => status?.startFailure?.consecutiveFailCount === count,
      60_000,
    );

  test('starts that fail are tried again after a growing back-off, and it looks so', async () => {
    const words = await wordsDuring(NAME, async () => {
      const first = await failStart();
      const { status } = await untilFailures(1);
      expect(status?.startFailure).toMatchObject({ lastFailedVMIUID: first });
      await untilWord(NAME, 'CrashLoopBackOff');
      const retryAt = Date.parse(status?.startFailure?.retryAfterTimestamp ?? '');
      const second = await failStart(first);
      const created = Date.parse((await getVmi(NAME))?.metadata?.creationTimestamp ?? '');
      expect(created - retryAt).toBeGreaterThanOrEqual(-1000);
      const next = await untilFailures(2);
      expect(next.status?.startFailure).toMatchObject({ lastFailedVMIUID: second });
      const wait = Date.parse(next.status?.startFailure?.retryAfterTimestamp ?? '') - Date.now();
      expect(wait).toBeGreaterThan(20_000);
      expect(wait).toBeLessThan(61_000);
    });
    expect(words).not.toContain('Stopped');
  });

  test('the back-off outlives the controller', async () => {
    const { status } = await untilFailures(2);
    const retryAt = Date.parse(status?.startFailure?.retryAfterTimestamp ?? '');
    const pods = await kubectl(['get', 'pods', '-n', 'virtflow', '-o', 'name']);
    const controllers = pods.split('\n').filter((name) => name.includes('virtflow-controller'));
    await kubectl(['delete', '-n', 'virtflow', '--wait=false', ...controllers]);
    const vmi = await untilObject(
      'the next try',
      () => getVmi(NAME),
      ({ metadata }) => metadata?.deletionTimestamp === undefined,
      120_000,
    );
    const late = Date.parse(vmi.metadata?.creationTimestamp ?? '') - retryAt;
    console.log(`the next try came ${late} ms after its time`);
    expect(late).toBeGreaterThanOrEqual(-1000);
    expect(late).toBeLessThan(30_000);
  });

  test('once its template can work it runs, and the failures are forgotten', async () => {
    await patch(NAME, { spec: { template: { spec: { nodeSelector: null } } } });
    await ask(NAME, await stopOf(NAME), { action: 'Start' });
    await untilRunning(NAME);
    await untilWord(NAME, 'Running');
    expect((await untilServed(NAME)).status?.startFailure).toBeUndefined();
  });
});
