import type { Concern } from '../concern.ts';
import { ioThreadPlan } from '../io-threads.ts';

export const ioThreads: Concern = (vmi) => ({ iothreads: ioThreadPlan(vmi)?.total || undefined });
