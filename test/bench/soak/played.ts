import { readFile } from 'node:fs/promises';
import { Load, NAMESPACE } from '../density/load.ts';
import type { Part } from '../density/plane.ts';
import { withPlane } from '../density/plane.ts';
import type { Figure } from '../figures.ts';
import { ACTION_TIMEOUT_MS, openCycle } from './cycle.ts';
import { residentOf } from './growth.ts';
import { soakFor } from './rounds.ts';

const WATCHED = ['controller', 'kube-apiserver', 'temporal', 'nodes'] as const satisfies readonly Part[];

/** A soak of VMs on nodes that KWOK plays, in a control plane of its own. */
export const soakPlayed = (
  { vms, nodes, minutes }: { vms: number; nodes: number; minutes: number },
  progress: (text: string) => void,
): Promise<Figure[]> =>
  withPlane({ nodes }, async ({ plane, kube, rest }) => {
    await kube.create('Namespace', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    const load = new Load(kube, rest);
    await load.open();
    progress(`starting ${vms} VMs`);
    await load.start('soak', vms, 2, ACTION_TIMEOUT_MS);
    const cycle = await openCycle(kube, rest, NAMESPACE);
    const sample = async (): Promise<Record<string, number>> => {
      const now: Record<string, number> = {};
      for (const part of WATCHED) {
        now[part] = residentOf(await readFile(`/proc/${await plane.pid(part)}/status`, 'utf8'));
      }
      return now;
    };
    const names = Array.from({ length: vms }, (_, n) => `soak-${n}`);
    const figures = await soakFor({ cycle, names, minutes, sample, progress });
    progress('deleting all');
    const goneMs = await load.deleteAll(ACTION_TIMEOUT_MS);
    cycle.close();
    load.close();
    return [...figures, { name: 'all gone after a delete', value: goneMs / 1000, unit: 's' }];
  });
