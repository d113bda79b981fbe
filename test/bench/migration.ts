import { untilSettled } from '../e2e/support/migrations.ts';
import { switchovers } from '../e2e/support/readings.ts';
import { Recorder } from '../e2e/support/recorder.ts';
import { createClaim, deleteVm, NAMESPACE } from '../e2e/support/vms.ts';
import { until } from '../support/until.ts';
import { timeBarePod } from './bare-pod.ts';
import type { Figure } from './figures.ts';
import { figure, median } from './figures.ts';
import { RAW, RawHost, makeRawFiles, removeRawFiles } from './raw.ts';
import { domainXml, timeMigration, timeStart } from './vm.ts';

const NAME = 'bench-migration';
const CLAIM_BYTES = 64 * 1024 * 1024;
/** Between two looks at the consoles of the guests, in ms: the resolution of the downtime. */
const POLL_MS = 5;

interface Pair {
  ours: number;
  raw: number;
  bare: number;
  downtime: number;
  rawDowntime: number;
}

/**
 * VMIM created → Succeeded and the guest's downtime, by the gap in the guest's own counter, against `virsh migrate` of the same guest between two
 * libvirtds without virtflow; taken in turns.
 */
export async function benchMigration(pairs: number, progress: (text: string) => void): Promise<Figure[]> {
  const files = makeRawFiles(CLAIM_BYTES);
  const hosts = [await RawHost.create(files, 'vfbench0'), await RawHost.create(files, 'vfbench1')] as const;
  const taken: Pair[] = [];
  try {
    await deleteVm(NAME);
    await createClaim(NAME, '64Mi');
    await timeStart(NAME);
    const xml = await domainXml(NAME);
    await hosts[0].start(xml);
    for (let pair = 1; pair <= pairs; pair += 1) {
      progress(`migration ${pair} of ${pairs}`);
      const [from, to] = pair % 2 === 1 ? hosts : ([hosts[1], hosts[0]] as const);
      const bare = await timeBarePod();
      const [raw, rawDowntime] = await withDowntime(observeRaw(hosts), () => from.migrate(to));
      const [ours, downtime] = await withDowntime(observe(), () => timeMigration(`${NAME}-${Date.now()}`, NAME));
      await untilSettled(NAME);
      taken.push({ ours, raw, bare, downtime, rawDowntime });
    }
  } finally {
    await deleteVm(NAME);
    for (const host of hosts) await host.dispose();
    removeRawFiles(files);
  }
  const of = (key: keyof Pair): number => median(taken.map((pair) => pair[key]));
  return [
    figure({
      ...{ name: 'VMIM created → Succeeded', value: of('ours'), unit: 'ms' },
      ...{ against: of('bare') + 1.5 * of('raw') + 1000, limit: 1 },
      note: `bare Pod Ready ${Math.round(of('bare'))} ms + 1.5 × virsh migrate ${Math.round(of('raw'))} ms + 1 s`,
    }),
    figure({
      ...{ name: "guest's downtime in a migration", value: of('downtime'), unit: 'ms' },
      ...{ against: 1.5 * of('rawDowntime') + 50, limit: 1 },
      note: `1.5 × virsh migrate's ${Math.round(of('rawDowntime'))} ms + 50 ms; medians of ${taken.length} pairs`,
    }),
  ];
}

const OBSERVED = { mayMigrate: true, pollMs: POLL_MS };

const observe = (): Recorder => new Recorder(NAMESPACE, NAME, OBSERVED);

const observeRaw = (hosts: readonly RawHost[]): Recorder =>
  new Recorder(RAW.namespace, RAW.name, {
    ...OBSERVED,
    logOf: (qemu) => hosts.map((host) => host.serialLog(qemu)).find((log) => log !== undefined) ?? '',
  });

/** Runs a migration under observation: its time, and the gap in the guest's counter; ms. @throws Error on any sign of two active guests */
async function withDowntime(recorder: Recorder, migrate: () => Promise<number>): Promise<[number, number]> {
  const measured = (async (): Promise<[number, number]> => {
    await until('the guest counts', () => recorder.readings.length > 0);
    const time = await migrate();
    return [time, await until('the guest counts on elsewhere', () => switchovers(recorder.readings)[0]?.gap)];
  })();
  const [found] = await Promise.all([
    measured.then(
      () => recorder.stop(),
      () => recorder.stop(),
    ),
    measured,
  ]);
  if (found.length > 0) throw new Error(`two active guests: ${found.length} signs, first ${found[0]}`);
  return measured;
}
