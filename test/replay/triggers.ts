import { virtflowClient } from '../../client/index.ts';
import { newVm, untilRunning } from '../support/fakes/vm.ts';
import { until } from '../support/until.ts';
import type { Scenario } from './scenarios.ts';

/** Each kind of end that an operation behind a trigger has, and what the VM's entity makes of them. */
export const triggers: Record<string, Scenario> = {
  machineIsTriggered: async (lab) => {
    lab.tellEntities();
    const { client } = lab.env;
    const machine = await newVm(lab, { runStrategy: 'Halted' });
    await until('it is known', () => machine.fake.reports.length > 0);
    const virtflow = virtflowClient(client);
    const vm = virtflow.virtualMachine(machine.vm);
    const start = await vm.start({ key: 'start' });
    await start.outcome();
    const first = await untilRunning(lab);
    await until(
      'its entity knows',
      async () => (await machine.entity.query<{ phase: string }>('entityStatus')).phase === 'Running',
    );
    lab.world.manners.migrates = 'fails';
    const migrate = await vm.migrate({ key: 'migrate' });
    await migrate.outcome();
    const restart = await vm.restart({ key: 'restart' });
    await vm.restart({ key: 'restart' });
    await restart.outcome();
    await untilRunning(lab, first.uid);
    const retry = await vm.retry({ key: 'retry' });
    await retry.outcome();
    await machine.tell({ deleting: true });
    await machine.entity.result();
    return {
      'vm-triggered': machine.entity,
      'trigger-start': client.workflow.getHandle(start.id),
      'trigger-restart': client.workflow.getHandle(restart.id),
      'trigger-migrate-failed': client.workflow.getHandle(migrate.id),
      'trigger-retry-refused': client.workflow.getHandle(retry.id),
    };
  },
};
