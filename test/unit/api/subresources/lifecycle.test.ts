import { describe, expect, test } from '@jest/globals';
import type { StateChangeRequest, VirtualMachine, VirtualMachineInstance } from '../../../../api/kubevirt/types.ts';
import type { Decision } from '../../../../api/subresources/lifecycle.ts';
import { decideMigrate, decideRestart, decideStart, decideStop } from '../../../../api/subresources/lifecycle.ts';

const vmOf = (spec: Partial<VirtualMachine['spec']>, status: VirtualMachine['status'] = {}): VirtualMachine => ({
  metadata: { namespace: 'team', name: 'web', uid: 'vm-uid' },
  spec: { template: { spec: { domain: { devices: {} } } }, ...spec },
  status,
});

const vmiOf = (phase?: string, seconds?: number, deleting = false): VirtualMachineInstance => ({
  metadata: {
    ...{ namespace: 'team', name: 'web', uid: 'vmi-uid' },
    ...(deleting ? { deletionTimestamp: '2026-05-01T12:00:00Z' } : {}),
  },
  spec: {
    domain: { devices: {} },
    ...(seconds === undefined ? {} : { terminationGracePeriodSeconds: seconds }),
  },
  status: phase === undefined ? {} : { phase },
});

const STOP: StateChangeRequest = { action: 'Stop', uid: 'vmi-uid' };
const START: StateChangeRequest = { action: 'Start' };
const PAUSED: StateChangeRequest = { action: 'Start', data: { paused: 'true' } };
const busy = (...requests: StateChangeRequest[]): VirtualMachine['status'] => ({ stateChangeRequests: requests });

/** A decision in one line. */
const told = (decision: Decision): string => {
  if (decision.refusal !== undefined) {
    const { code, message } = decision.refusal;
    return `${code} ${message.replace(/^.*"web": /, '')}`;
  }
  return decision.writes
    .map((write) => {
      if ('create' in write) return `create ${write.create.metadata?.generateName}`;
      const last = write.operations.findLast((operation) => operation.op !== 'test' && operation.op !== 'remove');
      const value = last !== undefined && 'value' in last ? last.value : undefined;
      const requests = Array.isArray(value) ? value : (value as { stateChangeRequests?: unknown }).stateChangeRequests;
      if (requests === undefined) return String(value);
      return (requests as StateChangeRequest[])
        .map(({ action, uid, data }) => action + (uid ?? '') + (data === undefined ? '' : JSON.stringify(data)))
        .join('+');
    })
    .join(' then ');
};

const running = 'VM is already running';

describe('start', () => {
  test.each`
    strategy            | vmi                           | status               | then
    ${'Halted'}         | ${undefined}                  | ${{}}                | ${'Always'}
    ${'Halted'}         | ${vmiOf('Succeeded')}         | ${{}}                | ${'Always'}
    ${'Halted'}         | ${vmiOf('Running')}           | ${{}}                | ${'Always'}
    ${'Halted'}         | ${vmiOf('Running', 30, true)} | ${{}}                | ${'Always'}
    ${'Manual'}         | ${undefined}                  | ${{}}                | ${'Start'}
    ${'Manual'}         | ${vmiOf('Failed')}            | ${{}}                | ${'Stopvmi-uid+Start'}
    ${'Manual'}         | ${vmiOf('Succeeded')}         | ${{}}                | ${'Stopvmi-uid+Start'}
    ${'Manual'}         | ${vmiOf()}                    | ${{}}                | ${'Start'}
    ${'Manual'}         | ${vmiOf('Unknown')}           | ${{}}                | ${'Start'}
    ${'Manual'}         | ${vmiOf('Running')}           | ${{}}                | ${`409 ${running}`}
    ${'Manual'}         | ${vmiOf('Scheduling')}        | ${{}}                | ${`409 ${running}`}
    ${'Manual'}         | ${vmiOf('Running')}           | ${busy(STOP)}        | ${'Stopvmi-uid+Start'}
    ${'Manual'}         | ${vmiOf('Running', 30, true)} | ${{ created: true }} | ${'Start'}
    ${'Manual'}         | ${vmiOf('Running')}           | ${busy(STOP, START)} | ${'409 unable to complete request: stop/start already underway'}
    ${'Manual'}         | ${undefined}                  | ${busy(START)}       | ${'409 unable to complete request: stop/start already underway'}
    ${'RerunOnFailure'} | ${undefined}                  | ${{}}                | ${'Start'}
    ${'RerunOnFailure'} | ${vmiOf('Succeeded')}         | ${{}}                | ${'Stopvmi-uid+Start'}
    ${'RerunOnFailure'} | ${vmiOf('Failed')}            | ${{}}                | ${'409 RerunOnFailure does not support starting VM from failed state'}
    ${'RerunOnFailure'} | ${vmiOf('Running')}           | ${{}}                | ${`409 ${running}`}
    ${'Always'}         | ${undefined}                  | ${{}}                | ${'409 Always does not support manual start requests'}
    ${'Always'}         | ${vmiOf('Running')}           | ${{}}                | ${`409 ${running}`}
    ${'Once'}           | ${undefined}                  | ${{}}                | ${'409 Once does not support manual start requests'}
    ${'WaitAsReceiver'} | ${undefined}                  | ${{}}                | ${'409 WaitAsReceiver does not support manual start requests'}
  `(
    '$strategy, VMI $vmi.status.phase, requests $status.stateChangeRequests: $then',
    ({ strategy, vmi, status, then }) => {
      expect(
        told(
          decideStart({ vm: vmOf({ runStrategy: strategy as string }, status as object), vmi: vmi as undefined }, {}),
        ),
      ).toBe(then);
    },
  );

  test.each`
    spec                                                                                                   | then
    ${{ runStrategy: 'Halted' }}                                                                           | ${'Start{"paused":"true"}'}
    ${{ running: false }}                                                                                  | ${'Start{"paused":"true"}'}
    ${{ runStrategy: 'Manual' }}                                                                           | ${'Start{"paused":"true"}'}
    ${{ runStrategy: 'Halted', template: { spec: { domain: { devices: {} }, startStrategy: 'Paused' } } }} | ${'Always'}
  `('paused, $spec.runStrategy $spec.running: $then', ({ spec, then }) => {
    expect(told(decideStart({ vm: vmOf(spec as object) }, { paused: true }))).toBe(then);
  });

  test('a VM whose volumes a migration left behind starts only by hand', () => {
    const status = { conditions: [{ type: 'ManualRecoveryRequired', status: 'True' }] };
    expect(told(decideStart({ vm: vmOf({ runStrategy: 'Halted' }, status) }, {}))).toMatch(/^409 VM recovery required/);
  });

  test('a paused start of a stopping VM waits behind the stop', () => {
    const vm = vmOf({ runStrategy: 'Manual' }, busy(STOP));
    expect(decideStart({ vm, vmi: vmiOf('Running') }, { paused: true })).toEqual({
      writes: [
        {
          ...{ patch: 'VirtualMachine', status: true },
          operations: [
            { op: 'test', path: '/status/stateChangeRequests', value: [STOP] },
            { op: 'add', path: '/status/stateChangeRequests', value: [STOP, PAUSED] },
          ],
        },
      ],
    });
  });
});

describe('stop', () => {
  const shorter = '409 Halted only supports manual stop requests with a shorter graceperiod';
  test.each`
    strategy            | vmi                             | gracePeriod  | then
    ${'Always'}         | ${undefined}                    | ${undefined} | ${'Halted'}
    ${'Always'}         | ${vmiOf('Running', 30)}         | ${undefined} | ${'Halted'}
    ${'Always'}         | ${vmiOf('Running', 30)}         | ${0}         | ${'0 then Halted'}
    ${'Always'}         | ${vmiOf('Failed', 30)}          | ${0}         | ${'Halted'}
    ${'Once'}           | ${vmiOf('Running', 30)}         | ${undefined} | ${'Halted'}
    ${'Manual'}         | ${vmiOf('Running', 30)}         | ${undefined} | ${'Stopvmi-uid'}
    ${'Manual'}         | ${vmiOf('Running', 30)}         | ${5}         | ${'5 then Stopvmi-uid'}
    ${'Manual'}         | ${undefined}                    | ${undefined} | ${'409 VM is not running'}
    ${'Manual'}         | ${vmiOf('Succeeded')}           | ${undefined} | ${'409 VM is not running'}
    ${'RerunOnFailure'} | ${vmiOf('Scheduling')}          | ${undefined} | ${'Stopvmi-uid'}
    ${'RerunOnFailure'} | ${undefined}                    | ${undefined} | ${'409 VM is not running'}
    ${'Halted'}         | ${undefined}                    | ${0}         | ${'409 VM is not running'}
    ${'Halted'}         | ${vmiOf('Running', 1800, true)} | ${undefined} | ${shorter}
    ${'Halted'}         | ${vmiOf('Running', 1800, true)} | ${1800}      | ${shorter}
    ${'Halted'}         | ${vmiOf('Running', 1800, true)} | ${2400}      | ${shorter}
    ${'Halted'}         | ${vmiOf('Running', 1800, true)} | ${800}       | ${'800 then Stopvmi-uid'}
    ${'Halted'}         | ${vmiOf('Running')}             | ${1800}      | ${'1800 then Stopvmi-uid'}
    ${'Always'}         | ${vmiOf('Running', 30)}         | ${-1}        | ${'400 gracePeriod has to be greater or equal to 0'}
    ${'WaitAsReceiver'} | ${vmiOf('WaitingForSync')}      | ${undefined} | ${'409 WaitAsReceiver does not support manual stop requests'}
  `('$strategy, VMI $vmi.status.phase, gracePeriod $gracePeriod: $then', ({ strategy, vmi, gracePeriod, then }) => {
    const options = { ...(gracePeriod === undefined ? {} : { gracePeriod: gracePeriod as number }) };
    expect(told(decideStop({ vm: vmOf({ runStrategy: strategy as string }), vmi: vmi as undefined }, options))).toBe(
      then,
    );
  });

  test('a stop takes the place of whatever was asked before', () => {
    const vm = vmOf({ runStrategy: 'Manual' }, busy(STOP, START));
    expect(told(decideStop({ vm, vmi: vmiOf('Running') }, {}))).toBe('Stopvmi-uid');
  });

  test('the old form of the run strategy is kept', () => {
    const vm = vmOf({ running: true });
    expect(decideStop({ vm }, {})).toEqual({
      writes: [
        {
          ...{ patch: 'VirtualMachine', status: false },
          operations: [
            { op: 'test', path: '/spec/running', value: true },
            { op: 'add', path: '/spec/running', value: false },
          ],
        },
      ],
    });
  });
});

describe('restart', () => {
  test.each`
    strategy            | vmi                     | status               | seconds      | then
    ${'Always'}         | ${vmiOf('Running', 30)} | ${{}}                | ${undefined} | ${'Stopvmi-uid+Start'}
    ${'Manual'}         | ${vmiOf('Running', 30)} | ${{}}                | ${undefined} | ${'Stopvmi-uid+Start'}
    ${'RerunOnFailure'} | ${vmiOf('Failed', 30)}  | ${{}}                | ${undefined} | ${'Stopvmi-uid+Start'}
    ${'Always'}         | ${vmiOf('Running', 30)} | ${{}}                | ${0}         | ${'1 then Stopvmi-uid+Start'}
    ${'Always'}         | ${vmiOf('Failed', 30)}  | ${{}}                | ${0}         | ${'Stopvmi-uid+Start'}
    ${'Always'}         | ${vmiOf('Running', 30)} | ${{}}                | ${5}         | ${'400 For force restart, only gracePeriod=0 is supported for now'}
    ${'Always'}         | ${vmiOf('Running', 30)} | ${{}}                | ${-5}        | ${'400 gracePeriod has to be greater or equal to 0'}
    ${'Always'}         | ${vmiOf('Running', 30)} | ${busy(STOP, START)} | ${undefined} | ${'409 unable to complete request: stop/start already underway'}
    ${'Manual'}         | ${vmiOf('Running', 30)} | ${busy(STOP)}        | ${undefined} | ${'409 unable to complete request: stop/start already underway'}
    ${'Halted'}         | ${undefined}            | ${{}}                | ${undefined} | ${'409 RunStategy Halted does not support manual restart requests'}
    ${'Once'}           | ${vmiOf('Running', 30)} | ${{}}                | ${undefined} | ${'409 RunStategy Once does not support manual restart requests'}
    ${'Manual'}         | ${undefined}            | ${{}}                | ${undefined} | ${'409 VM is not running: Halted'}
    ${'Always'}         | ${undefined}            | ${{}}                | ${undefined} | ${'409 VM is not running: Halted'}
  `(
    '$strategy, VMI $vmi.status.phase, gracePeriodSeconds $seconds: $then',
    ({ strategy, vmi, status, seconds, then }) => {
      const options = { ...(seconds === undefined ? {} : { gracePeriodSeconds: seconds as number }) };
      const vm = vmOf({ runStrategy: strategy as string }, status as object);
      expect(told(decideRestart({ vm, vmi: vmi as undefined }, options))).toBe(then);
    },
  );

  test('while volumes change, a restart is refused', () => {
    const status = { conditions: [{ type: 'VolumesChange', status: 'True' }] };
    const vm = vmOf({ runStrategy: 'Always' }, status);
    expect(told(decideRestart({ vm, vmi: vmiOf('Running') }, {}))).toMatch(/^409 VM recovery required/);
  });

  test('a request by hand ends the back-off, in one patch that holds only for the list that was read', () => {
    const vm = vmOf({ runStrategy: 'Always' }, { created: true, startFailure: { consecutiveFailCount: 3 } });
    expect(decideRestart({ vm, vmi: vmiOf('Running') }, {})).toEqual({
      writes: [
        {
          ...{ patch: 'VirtualMachine', status: true },
          operations: [
            { op: 'test', path: '/status/stateChangeRequests', value: null },
            { op: 'add', path: '/status/stateChangeRequests', value: [STOP, START] },
            { op: 'remove', path: '/status/startFailure' },
          ],
        },
      ],
    });
  });

  test.each([undefined, {}])('a VM whose status is %j gets one, unless it got one meanwhile', (status) => {
    const { status: _, ...vm } = vmOf({ runStrategy: 'Manual' });
    expect(decideStart({ vm: status === undefined ? vm : { ...vm, status } }, {})).toMatchObject({
      writes: [
        {
          operations: [
            { op: 'test', path: '/status', value: status ?? null },
            { op: 'add', path: '/status', value: { stateChangeRequests: [START] } },
          ],
        },
      ],
    });
  });

  test('the grace period of a forced restart can be taken back to what it was, also to none', () => {
    const forced = decideRestart(
      { vm: vmOf({ runStrategy: 'Always' }), vmi: vmiOf('Running') },
      { gracePeriodSeconds: 0 },
    );
    expect(forced).toMatchObject({
      writes: [
        {
          operations: [
            { op: 'test', path: '/spec/terminationGracePeriodSeconds', value: null },
            { op: 'add', path: '/spec/terminationGracePeriodSeconds', value: 1 },
          ],
          undo: [
            { op: 'test', path: '/spec/terminationGracePeriodSeconds', value: 1 },
            { op: 'remove', path: '/spec/terminationGracePeriodSeconds' },
          ],
        },
        { patch: 'VirtualMachine' },
      ],
    });
  });
});

describe('migrate', () => {
  test('is an object as a user would create it', () => {
    const addedNodeSelector = { zone: 'a' };
    expect(decideMigrate(vmOf({ runStrategy: 'Always' }), vmiOf('Running'), { addedNodeSelector })).toEqual({
      writes: [
        {
          create: {
            apiVersion: 'kubevirt.io/v1',
            kind: 'VirtualMachineInstanceMigration',
            metadata: { namespace: 'team', generateName: 'kubevirt-migrate-vm-' },
            spec: { vmiName: 'web', addedNodeSelector },
          },
        },
      ],
    });
  });

  test.each(['Scheduling', 'Succeeded', undefined])('is refused while the instance is %s', (phase) => {
    expect(told(decideMigrate(vmOf({ runStrategy: 'Always' }), vmiOf(phase), {}))).toBe('409 VM is not running');
  });
});
