import { CancellationScope } from '@temporalio/workflow';

/**
 * Does two things at the same time. When one fails the other is cancelled and waited for, so that nothing goes on behind the failure.
 * @throws what failed first
 */
export const together = <A, B>(first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> =>
  new CancellationScope({ cancellable: true }).run(async () => {
    const scope = CancellationScope.current();
    const failures: unknown[] = [];
    const orCancelBoth = async <T>(run: () => Promise<T>): Promise<T> => {
      try {
        return await run();
      } catch (error) {
        failures.push(error);
        scope.cancel();
        throw error;
      }
    };
    const [a, b] = await Promise.allSettled([orCancelBoth(first), orCancelBoth(second)]);
    if (a.status === 'fulfilled' && b.status === 'fulfilled') return [a.value, b.value];
    throw failures[0];
  });

/**
 * Does something while something else watches over it: `watch` ends soon after `isDone` says so, and what it throws ends the work.
 * @throws what failed first
 */
export const watched = async <T>(
  run: () => Promise<T>,
  watch: (isDone: () => boolean) => Promise<void>,
): Promise<T> => {
  let isDone = false;
  const [value] = await together(
    async () => {
      try {
        return await run();
      } finally {
        isDone = true;
      }
    },
    () => watch(() => isDone),
  );
  return value;
};
