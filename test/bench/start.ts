import { writesOfVirtflow } from '../e2e/support/audit.ts';
import { createClaim, deleteVm, NAMESPACE } from '../e2e/support/vms.ts';
import { timeBarePod } from './bare-pod.ts';
import type { Figure } from './figures.ts';
import { figure, median } from './figures.ts';
import { RawHost, makeRawFiles, removeRawFiles } from './raw.ts';
import { domainXml, timeStart } from './vm.ts';
import type { StartWrites } from './writes.ts';
import { countStart } from './writes.ts';

const NAME = 'bench-start';
const CLAIM_BYTES = 64 * 1024 * 1024;

interface Round extends StartWrites {
  running: number;
  vmRunning: number;
  agent: number;
  bare: number;
  raw: number;
}

/**
 * VMI created → Running, against a bare Pod's creation → Ready and libvirtd, define and start of the same domain without virtflow; taken in turns.
 * @param progress told of each round
 */
export async function benchStart(rounds: number, progress: (text: string) => void): Promise<Figure[]> {
  const files = makeRawFiles(CLAIM_BYTES);
  const host = await RawHost.create(files, 'vfbench0');
  const taken: Round[] = [];
  try {
    await deleteVm(NAME);
    await createClaim(NAME, '64Mi');
    for (let round = 1; round <= rounds; round += 1) {
      progress(`start ${round} of ${rounds}`);
      taken.push(await oneRound(host));
    }
  } finally {
    await deleteVm(NAME);
    await host.dispose();
    removeRawFiles(files);
  }
  const of = (key: keyof Round): number => median(taken.map((round) => round[key]));
  const most = (key: keyof Round): number => Math.max(...taken.map((round) => round[key]));
  return [
    figure({
      ...{ name: 'VMI created → Running', value: of('running'), unit: 'ms' },
      ...{ against: of('bare') + of('raw'), limit: 1.5 },
      note: `bare Pod Ready ${Math.round(of('bare'))} ms + raw libvirt ${Math.round(of('raw'))} ms`,
    }),
    { name: 'VM created → Running', value: of('vmRunning'), unit: 'ms' },
    { name: 'VM created → guest agent connected', value: of('agent'), unit: 'ms' },
    { name: 'VMI writes from creation to Running', value: most('vmi'), unit: 'writes', limit: 3 },
    { name: "virtflow's writes per VM start", value: most('all'), unit: 'writes', limit: 10 },
    { name: 'writes in conflict', value: most('conflicts'), unit: 'writes', limit: 0 },
  ];
}

async function oneRound(host: RawHost): Promise<Round> {
  const bare = await timeBarePod();
  const since = new Date();
  const { runningAt, ...times } = await timeStart(NAME);
  // Nothing else is started in this namespace meanwhile.
  const ours = [`virt-launcher-${NAME}-`, 'revision-start-vm-'];
  const isOf = ({ name }: { name: string }): boolean => name === NAME || ours.some((start) => name.startsWith(start));
  const writes = countStart((await writesOfVirtflow(NAMESPACE, since)).filter(isOf), runningAt);
  const xml = await domainXml(NAME);
  await deleteVm(NAME);
  const raw = await host.start(xml);
  await host.remove();
  return { ...times, bare, raw, ...writes };
}
