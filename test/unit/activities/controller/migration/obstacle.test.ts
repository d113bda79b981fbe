import { expect, test } from '@jest/globals';
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from '../../../../../api/kubevirt/types.ts';
import { notRunning, olderUnfinished } from '../../../../../activities/controller/migration/obstacle.ts';
import { instance } from '../../../../support/instances.ts';

const inPhase = (phase: string, more: object = {}, metadata: object = {}): VirtualMachineInstance => ({
  ...instance({}, metadata),
  status: { phase, ...more },
});
const paused = (reason: string) => ({ conditions: [{ type: 'Paused', status: 'True', reason, message: 'words' }] });

test.each<[string, VirtualMachineInstance, RegExp | undefined]>([
  ['it runs', inPhase('Running'), undefined],
  ['its user paused it', inPhase('Running', paused('PausedByUser')), undefined],
  ['it has no phase yet', instance(), /phase is Pending/],
  ['it starts', inPhase('Scheduled'), /phase is Scheduled/],
  ['it has ended', inPhase('Succeeded'), /phase is Succeeded/],
  ['it is being deleted', inPhase('Running', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }), /being shut down/],
  ['an I/O error paused it', inPhase('Running', paused('PausedIOError')), /I\/O error paused it \(words\)/],
])('%s', (_, vmi, why) => {
  if (why === undefined) expect(notRunning(vmi)).toBeUndefined();
  else expect(notRunning(vmi)).toMatch(why);
});

const vmim = (name: string, phase?: string): VirtualMachineInstanceMigration => ({
  metadata: { name, uid: name },
  spec: { vmiName: 'web' },
  ...(phase === undefined ? {} : { status: { phase } }),
});

test.each<[string, VirtualMachineInstanceMigration[], string | undefined]>([
  ['it is the only one', [vmim('me')], undefined],
  ['older ones are over', [vmim('one', 'Succeeded'), vmim('two', 'Failed'), vmim('me')], undefined],
  ['an older one runs', [vmim('one', 'Succeeded'), vmim('two', 'Running'), vmim('me')], 'two'],
  ['an older one has not begun', [vmim('one'), vmim('me')], 'one'],
  ['only younger ones run', [vmim('me'), vmim('late', 'Running')], undefined],
])('%s', (_, migrations, name) => {
  expect(olderUnfinished(migrations, 'me')).toEqual(
    name === undefined
      ? undefined
      : { type: 'OperationUnderWay', message: expect.stringMatching(`${name} .*kubectl delete vmim ${name}`) },
  );
});
