import type { DomainReport } from '../../api/launcher/reports.ts';
import type { NodePorts } from './ports.ts';

/** Runs a command whose answer says what becomes of the guest: whoever follows its launcher need not tell that meanwhile, too. */
export const whileAwaited = async <Answer extends DomainReport>(
  { awaited }: Pick<NodePorts, 'awaited'>,
  podUid: string,
  run: () => Promise<Answer>,
): Promise<Answer> => {
  const answer = run();
  if (awaited.has(podUid)) return answer;
  awaited.set(
    podUid,
    answer.catch(() => undefined),
  );
  return answer.finally(() => awaited.delete(podUid));
};
