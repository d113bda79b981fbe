/** What is read of CDI's DataVolume. */
export interface DataVolume {
  metadata?: { name?: string };
  status?: {
    phase?: string;
    conditions?: { type: string; status: string; reason?: string }[];
  };
}

/** Reasons of a DataVolume's condition Running that it does not get out of by itself soon. */
const ERRORS = ['Error', 'ImagePullFailed'];
/** Phases in which it is filled, or waits for whoever fills it. */
const FILLED = ['Succeeded', 'PendingPopulation'];

/** How far the DataVolumes of a VM's volumes are: one of them fails, or one is being filled; undefined: nothing is waited for. */
export const dataVolumeState = (dataVolumes: readonly DataVolume[]): 'failed' | 'provisioning' | undefined => {
  if (dataVolumes.some(isFailing)) return 'failed';
  return dataVolumes.some(isBeingFilled) ? 'provisioning' : undefined;
};

const conditionOf = ({ status }: DataVolume, wanted: string): { status: string; reason?: string } | undefined =>
  status?.conditions?.find(({ type }) => type === wanted);

const isFailing = (dataVolume: DataVolume): boolean => {
  const running = conditionOf(dataVolume, 'Running');
  return (
    dataVolume.status?.phase === 'Failed' || (running?.status === 'False' && ERRORS.includes(running.reason ?? ''))
  );
};

/** One that waits for its first consumer is waited for by nobody, unless its claim is bound. */
const isBeingFilled = (dataVolume: DataVolume): boolean => {
  const { phase = '' } = dataVolume.status ?? {};
  if (FILLED.includes(phase)) return false;
  return phase !== 'WaitForFirstConsumer' || conditionOf(dataVolume, 'Bound')?.status === 'True';
};
