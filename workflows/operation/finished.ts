import type { OperationFinished, OperationResult, OperationStatus } from '../../api/contract/operations.ts';

type Place = Pick<OperationResult, 'pod' | 'epoch' | 'migration'>;

/** What an operation says of where it is. */
export const placeOf = ({ pod, epoch, migration }: Place): Place => ({
  ...(pod === undefined ? {} : { pod }),
  ...(epoch === undefined ? {} : { epoch }),
  ...(migration === undefined ? {} : { migration }),
});

/** The end of an operation, as its entity takes it in. */
export const finishedAs = (
  operationId: string,
  outcome: OperationFinished['outcome'],
  ended: OperationResult & Pick<Partial<OperationStatus>, 'failure'>,
): OperationFinished => {
  const { kind, end, failure, start } = ended;
  return {
    ...{ operationId, kind, outcome, ...placeOf(ended) },
    ...(end === undefined ? {} : { end }),
    ...(failure === undefined ? {} : { failure }),
    ...(start === undefined ? {} : { start }),
  };
};
