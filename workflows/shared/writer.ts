import { condition } from '@temporalio/workflow';

/** Writes a status: at most one write in flight, then the newest state; nothing in between is written. */
export interface CoalescingWriter<Report> {
  /** `key` says whether it differs from the last one wanted. */
  want: (report: Report, key: string) => void;
  /** Somebody else has written what has this key. */
  wrote: (key: string) => void;
  /** Nothing in flight and nothing wanted. */
  isIdle: () => boolean;
  idle: () => Promise<void>;
  /** Key of what was wanted last. */
  lastKey: () => string | undefined;
}

/** @param write must not throw: it reports its own failure. @param lastKey key of what an earlier run has written */
export const newWriter = <Report>(
  write: (report: Report) => Promise<void>,
  lastKey: string | undefined,
): CoalescingWriter<Report> => {
  let wanted: { report: Report } | undefined;
  let inFlight = false;
  let last = lastKey;
  const run = async (): Promise<void> => {
    inFlight = true;
    while (wanted !== undefined) {
      const { report } = wanted;
      wanted = undefined;
      await write(report);
    }
    inFlight = false;
  };
  const isIdle = (): boolean => !inFlight && wanted === undefined;
  return {
    want: (report, key) => {
      if (key === last) return;
      last = key;
      wanted = { report };
      if (!inFlight) void run();
    },
    wrote: (key) => void (last = key),
    isIdle,
    idle: () => condition(isIdle),
    lastKey: () => last,
  };
};
