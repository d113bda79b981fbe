import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import { apply, kubectl, kubectlError } from '../support/kubectl.ts';
import { ensureNamespace } from '../support/namespaces.ts';
import {
  NAMESPACE,
  condition,
  deleteVm,
  getVm,
  getVmi,
  guestSpec,
  setRunStrategy,
  untilObject,
  untilRunning,
  untilStopped,
} from '../support/vms.ts';

jest.setTimeout(300_000);

const TYPE = 'virtflow-e2e-small';
const LATE = 'virtflow-e2e-late';
const group = 'instancetype.kubevirt.io/v1beta1';
const type = (name: string, guest: number) => ({
  ...{ apiVersion: group, kind: 'VirtualMachineClusterInstancetype', metadata: { name } },
  spec: { cpu: { guest }, memory: { guest: '128Mi' } },
});
const preference = {
  ...{ apiVersion: group, kind: 'VirtualMachinePreference', metadata: { name: 'linux', namespace: NAMESPACE } },
  spec: { preferredTerminationGracePeriodSeconds: 7, devices: { preferredRng: {} } },
};
/** Neither CPUs nor memory, and no word on its grace period. */
const vm = (name: string, spec: object): object => {
  const template = guestSpec({
    change: (given) => {
      delete given.domain.memory;
      delete given.terminationGracePeriodSeconds;
    },
  });
  return {
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name, namespace: NAMESPACE } },
    spec: { runStrategy: 'Always', template: { spec: template }, ...spec },
  };
};
const NAMES = ['sized', 'waits', 'refused'];
const cleanUp = async (): Promise<void> => {
  await Promise.all(NAMES.map(deleteVm));
  await kubectl(['delete', 'virtualmachineclusterinstancetype', TYPE, LATE, '--ignore-not-found']);
  await kubectl(['delete', 'virtualmachinepreference', 'linux', '-n', NAMESPACE, '--ignore-not-found']);
};
const untilVm = (what: string, name: string, holds: (vm: VirtualMachine) => boolean): Promise<VirtualMachine> =>
  untilObject(what, () => getVm(name), holds, 60_000);

beforeAll(async () => {
  await ensureNamespace(NAMESPACE);
  await cleanUp();
  await apply(type(TYPE, 2));
  await apply(preference);
});
afterAll(cleanUp);

test('a VM runs as large as its instance type was, and as its preference likes it', async () => {
  await apply(
    vm('sized', { instancetype: { name: TYPE }, preference: { name: 'linux', kind: 'VirtualMachinePreference' } }),
  );
  const { metadata, spec } = await untilRunning('sized');
  expect(spec).toMatchObject({
    terminationGracePeriodSeconds: 7,
    domain: { cpu: { sockets: 2, cores: 1, threads: 1 }, memory: { guest: '128Mi' }, devices: { rng: {} } },
  });
  expect(metadata?.annotations).toMatchObject({
    'kubevirt.io/cluster-instancetype-name': TYPE,
    'kubevirt.io/preference-name': 'linux',
  });
  const kept = (await getVm('sized'))?.status?.instancetypeRef;
  expect(kept).toMatchObject({ name: TYPE, controllerRevisionRef: { name: expect.stringContaining('sized-') } });

  await apply(type(TYPE, 1));
  const path = `/apis/subresources.kubevirt.io/v1/namespaces/${NAMESPACE}/virtualmachines/sized/expand-spec`;
  const expanded = JSON.parse(await kubectl(['get', '--raw', path])) as VirtualMachine;
  expect(expanded.spec).not.toHaveProperty('instancetype');
  expect(expanded.spec.template.spec?.domain.cpu?.sockets).toBe(2);
  await setRunStrategy('sized', 'Halted');
  await untilStopped('sized');
  await setRunStrategy('sized', 'Always');
  await untilObject(
    'it runs again',
    () => getVmi('sized'),
    (vmi) => vmi.metadata?.uid !== metadata?.uid && vmi.status?.phase === 'Running',
    120_000,
  );
  expect((await getVmi('sized'))?.spec.domain.cpu?.sockets).toBe(2);
});

test('another instance type needs a restart', async () => {
  await apply(type(LATE, 1));
  const patch = JSON.stringify({ spec: { instancetype: { name: LATE } } });
  await kubectl(['patch', 'vm', 'sized', '-n', NAMESPACE, '--type=merge', '-p', patch]);
  const changed = await untilVm('it says so', 'sized', (is) => condition(is, 'RestartRequired')?.status === 'True');
  expect(condition(changed, 'RestartRequired')?.message).toContain('domain.cpu');
  expect(changed.status?.instancetypeRef?.name).toBe(LATE);
  await deleteVm('sized');
  await kubectl(['delete', 'virtualmachineclusterinstancetype', LATE]);
});

test('a VM that is there before its instance type starts when that comes', async () => {
  await apply(vm('waits', { instancetype: { name: LATE } }));
  const waiting = await untilVm('it says why', 'waits', (is) => condition(is, 'Failure')?.status === 'True');
  expect(condition(waiting, 'Failure')).toMatchObject({
    reason: 'FailedFindInstancetype',
    message: expect.stringContaining(LATE),
  });
  await apply(type(LATE, 1));
  await untilRunning('waits');
  await untilVm('no failure is left', 'waits', (is) => condition(is, 'Failure') === undefined);
});

test('what both decide is refused, field by field', async () => {
  const spec = guestSpec({ change: (given) => (given.domain.cpu = { cores: 2 }) });
  const refused = await kubectlError(
    ['create', '-f', '-'],
    stringify(vm('refused', { instancetype: { name: TYPE }, template: { spec } })),
  );
  expect(refused).toContain('spec.template.spec.domain.memory.guest');
  expect(refused).toContain('spec.template.spec.domain.cpu.cores');
});

test('the example is taken', async () => {
  const example = await readFile(join(import.meta.dirname, '../../../examples/vm-instance-type.yaml'), 'utf8');
  const taken = await kubectl(['apply', '--dry-run=server', '-n', NAMESPACE, '-f', '-'], example);
  expect(taken).toContain('virtualmachine.kubevirt.io/vm-small created (server dry run)');
});
