import { execa } from 'execa';
import { hostAddress, temporalHost } from '../../../deploy/local/cluster/addresses.ts';
import { run, succeeds } from '../../../deploy/local/shell.ts';

const NAMESPACE = 'virtflow-density';
const INSIDE = 'VIRTFLOW_DENSITY_NETWORK';

/**
 * Runs something in a network of its own, in which the addresses of the local cluster are free: the machine's own cluster goes on beside it. The first
 * call starts this program again in there. @returns the exit code of that; undefined: this was it
 */
export async function insideOwnNetwork(work: () => Promise<void>): Promise<number | undefined> {
  if (process.env[INSIDE] !== undefined) {
    await work();
    return undefined;
  }
  const inside = (...args: string[]): Promise<string> => run(['ip', '-n', NAMESPACE, ...args]);
  await succeeds(['ip', 'netns', 'delete', NAMESPACE]);
  await run(['ip', 'netns', 'add', NAMESPACE]);
  try {
    await inside('link', 'set', 'lo', 'up');
    await inside('link', 'add', 'plane', 'type', 'bridge');
    for (const address of [hostAddress, temporalHost.address])
      await inside('address', 'add', `${address}/24`, 'dev', 'plane');
    await inside('link', 'set', 'plane', 'up');
    await inside('route', 'add', 'default', 'via', hostAddress);
    const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    const { exitCode } = await execa('nsenter', [`--net=/run/netns/${NAMESPACE}`, ...again], {
      env: { [INSIDE]: '1' },
      reject: false,
      stdio: 'inherit',
    });
    return exitCode ?? 1;
  } finally {
    await succeeds(['ip', 'netns', 'delete', NAMESPACE]);
  }
}
