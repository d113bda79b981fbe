import type { EvacuationStatus, LeavingStatus } from '../../api/contract/evacuation.ts';

/** Nothing moves, and nothing is about to: a person may have to help. */
export const isStill = ({ leaving }: EvacuationStatus): boolean =>
  leaving.length > 0 && !leaving.some(({ standing }) => standing === 'moving' || standing === 'beginning');

/** As many as fit on a screen. */
const SHOWN = 30;

/** For the details pane of the Temporal UI; Markdown. */
export const detailsOf = (status: EvacuationStatus): string => {
  const { node, since, leaving, cordoned, failure } = status;
  return [
    `**Node ${node.name} is being emptied** since ${since}${cordoned ? '' : '; it is not cordoned'}: ${leaving.length} to leave${isStill(status) ? ', and none moves' : ''}`,
    ...(failure === undefined ? [] : [`${failure.type}: ${failure.message}`]),
    ...leaving.slice(0, SHOWN).map(line),
    ...(leaving.length > SHOWN ? [`and ${leaving.length - SHOWN} more`] : []),
  ].join('\n\n');
};

const line = ({ vmi, standing, why, nextTryAt }: LeavingStatus): string =>
  `- ${vmi.namespace}/${vmi.name} **${standing}**: ${why}${nextTryAt === undefined ? '' : `; next try at ${nextTryAt}`}`;
