import { setTimeout as pause } from 'node:timers/promises';
import { instanceId, virtualMachineId } from '../../api/contract/refs.ts';
import { writesOfVirtflow } from '../e2e/support/audit.ts';
import { workflowSize } from '../e2e/support/workflows.ts';
import { createClaim, deleteVm, getVm, getVmi, NAMESPACE } from '../e2e/support/vms.ts';
import type { Figure } from './figures.ts';
import { timeStart } from './vm.ts';

const NAME = 'bench-idle';
/** After a start a guest still tells what it is: those reports come first. */
const SETTLE_MS = 60_000;

/** What a running VM costs that nobody touches: new events in Temporal, and writes that its existence causes. */
export async function benchIdle(seconds: number, progress: (text: string) => void): Promise<Figure[]> {
  try {
    await deleteVm(NAME);
    await createClaim(NAME, '64Mi');
    await timeStart(NAME);
    progress('idle: the guest settles');
    await pause(SETTLE_MS);
    const ids = await entities();
    const before = await eventsOf(ids);
    const since = new Date();
    progress(`idle for ${seconds} s`);
    await pause(seconds * 1000);
    const events = (await eventsOf(ids)) - before;
    const writes = (await writesOfVirtflow(NAMESPACE, since)).filter(({ name }) => name.includes(NAME));
    const span = `in ${seconds} s of an idle VM`;
    return [
      { name: `Temporal events ${span}`, value: events, unit: 'events', limit: 0 },
      { name: `API writes ${span}`, value: writes.length, unit: 'writes', limit: 0 },
    ];
  } finally {
    await deleteVm(NAME);
  }
}

async function entities(): Promise<string[]> {
  const [vm, vmi] = [await getVm(NAME), await getVmi(NAME)];
  const ref = (uid = '') => ({ namespace: NAMESPACE, name: NAME, uid });
  return [virtualMachineId(ref(vm?.metadata?.uid)), instanceId(ref(vmi?.metadata?.uid))];
}

const eventsOf = async (ids: readonly string[]): Promise<number> =>
  (await Promise.all(ids.map(workflowSize))).reduce((sum, { events }) => sum + events, 0);
