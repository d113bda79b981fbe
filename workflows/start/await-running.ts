import type { ObjectRef, PodRef } from '../../api/contract/refs.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';
import type { Operation, Round } from '../operation/operation.ts';
import { hasEnded } from '../operation/observations.ts';
import { found } from '../shared/failures.ts';
import { nodeActivities } from '../shared/proxies.ts';
import { msUntil, now } from '../shared/time.ts';

const LIMIT_MS = 5 * 60_000;
const LOOK_AGAIN_MS = 30_000;

/**
 * Waits for the launcher's word that the domain runs (or is paused as asked for). A guest that has ended again in the meantime did run: the instance
 * deals with its end. @throws PodFailed, DeadlineExceeded
 */
export const domainRunning = async (
  { enter, seen }: Operation,
  vmi: ObjectRef,
  pod: Required<PodRef>,
  answer: DomainReport,
  round: Round,
): Promise<void> => {
  const since = now();
  for (let look = 2; ; look += 1) {
    const version = seen.version();
    const report = seen.domain(pod.uid) ?? answer;
    if (report.state === 'running' || report.state === 'paused' || report.state === 'shuttingDown') return;
    if (hasEnded(report)) {
      round.note(`the domain has ended again: ${report.end ?? report.state}`);
      return;
    }
    const facts = seen.pod(pod.uid);
    if (facts?.provenEnded === true || facts?.gone === true) {
      throw found('PodFailed', `Pod ${pod.name} ended before the domain ran; see the log of its container compute.`);
    }
    if (msUntil(now(), since) > LIMIT_MS) {
      const text = `the domain is still "${report.state}" ${LIMIT_MS / 60_000} minutes after it was defined; see the log of Pod ${pod.name}.`;
      throw found('DeadlineExceeded', text);
    }
    // It has not been told what goes well so far.
    if (look === 2) enter('Starting');
    await seen.change(version, LOOK_AGAIN_MS, `domain of Pod ${pod.name} runs`);
    if (seen.version() > version) continue;
    seen.sawDomain(await nodeActivities(pod.node, `${round.summary}, look ${look}`).inspectDomain({ vmi, pod }));
  }
};
