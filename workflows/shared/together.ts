import { CancellationScope } from '@temporalio/workflow';

/**
 * Does two things at the same time. When one fails the other is cancelled and waited for, so that nothing goes on behind the failure.
 * @throws what failed first
 */
export const together = <A, B>(first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> =>
  new CancellationScope({ cancellable: true }).run(async () => {
    const scope = CancellationScope.current();
    const failures: unknown[] = [];
    const watched = async <T>(run: () => Promise<T>): Promise<T> => {
      try {
        return await run();
      } catch (error) {
        failures.push(error);
        scope.cancel();
        throw error;
      }
    };
    const [a, b] = await Promise.allSettled([watched(first), watched(second)]);
    if (a.status === 'fulfilled' && b.status === 'fulfilled') return [a.value, b.value];
    throw failures[0];
  });
