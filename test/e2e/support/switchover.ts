import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { LIBVIRT } from '../../../deploy/local/guest/exec.ts';

/** libvirt's event in the source when its guest stands still, because all that is left goes over now. */
const STANDS_STILL = /Suspended Migrated/;

/** Waits for the switchover of a migration. */
export interface Switchover {
  /** Resolves when the guest stands still; rejects if nobody listens any more. */
  happened: Promise<void>;
  stop: () => Promise<void>;
}

/** Listens to the libvirt of a launcher Pod, from within a second on. */
export function watchSwitchover(namespace: string, vm: string, pod: string): Switchover {
  const virsh = [
    'virsh',
    '-q',
    '-c',
    LIBVIRT,
    'event',
    '--domain',
    `${namespace}_${vm}`,
    '--event',
    'lifecycle',
    '--loop',
  ];
  // Through a pipe, its output would come in blocks.
  const command = ['exec', '-n', namespace, pod, '-c', 'compute', '--', 'stdbuf', '-oL', ...virsh];
  const listener = execa('kubectl', command, { reject: false, buffer: false, stdin: 'ignore' });
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const lines = createInterface({ input: listener.stdout });
  lines.on('line', (line) => STANDS_STILL.test(line) && resolve(undefined));
  lines.on('close', () => reject(new Error(`virsh in Pod ${pod} does not listen any more`)));
  // Whoever waits hears of it; nobody may.
  promise.catch(() => undefined);
  return {
    happened: promise,
    stop: async () => {
      listener.kill();
      await listener;
    },
  };
}
