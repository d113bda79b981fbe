import { randomUUID } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { join, relative } from 'node:path';
import { Transform } from 'node:stream';
import { LAUNCHER_VOLUMES } from '../../../api/launcher/paths.ts';
import { MIGRATION_CHANNELS, migrationSocket } from '../../../api/launcher/migration.ts';
import type {
  CopiedDisk,
  MigrationChannel,
  MigrationOptions,
  MigrationView,
  PrepareTargetReply,
} from '../../../api/launcher/migration.ts';
import type { LauncherClient } from '../../support/launcher-client.ts';
import type { LauncherPod } from '../../support/launcher-pod.ts';
import { testHost, testVmi } from '../../support/test-vmi.ts';
import type { TestVmiOptions } from '../../support/test-vmi.ts';
import { agentConnected, startPod, syncRequest, track } from './support.ts';

/** What may happen to libvirt's last message of a migration, which tells the target that it is done. */
export type FinishFault = 'none' | 'lostRequest' | 'lostReply';

const REMOTE_PROGRAM = 0x20008086;
const FINISH = 306;

/** The three channels between two Pods, as two node workers make them, with faults. */
export class TestProxy {
  finish: FinishFault = 'none';
  /** Called when libvirt's finishing message has reached the target. */
  onFinish: () => void = () => undefined;
  /** Pause after each piece of memory that goes through. */
  memoryDelayMs = 0;
  readonly #servers: Server[] = [];
  readonly #sockets = new Map<Socket, MigrationChannel>();

  constructor(source: LauncherPod, target: LauncherPod, libvirtSocket: string) {
    for (const channel of MIGRATION_CHANNELS) {
      const to = outside(target, channel === 'libvirt' ? libvirtSocket : migrationSocket(channel));
      this.#listen(channel, outside(source, migrationSocket(channel)), to);
    }
  }

  /** Cuts the connections of one channel, or all; new ones are possible. */
  cut(channel?: MigrationChannel): void {
    for (const [socket, its] of this.#sockets) if (channel === undefined || channel === its) socket.destroy();
  }

  dispose(): Promise<void> {
    this.cut();
    for (const server of this.#servers) server.close();
    return Promise.resolve();
  }

  #listen(channel: MigrationChannel, from: string, to: string): void {
    rmSync(from, { force: true });
    const server = createServer((near) => {
      const far = connect(to);
      for (const socket of [near, far]) {
        this.#sockets.set(socket, channel);
        socket.on('error', () => undefined);
        socket.on('close', () => (near.destroy(), far.destroy(), this.#sockets.delete(socket)));
      }
      if (channel === 'libvirt') this.#control(near, far);
      else near.pipe(this.#slowed(channel)).pipe(far).pipe(near);
    });
    server.listen(from, () => chmodSync(from, 0o777));
    this.#servers.push(server);
  }

  #slowed(channel: MigrationChannel): Transform {
    return new Transform({
      transform: (chunk, _encoding, done) => {
        const delay = channel === 'memory' ? this.memoryDelayMs : 0;
        if (delay === 0) done(null, chunk);
        else setTimeout(() => done(null, chunk), delay);
      },
    });
  }

  #control(near: Socket, far: Socket): void {
    let pending = Buffer.alloc(0);
    let finishing = false;
    const cut = (): void => void (near.destroy(), far.destroy());
    near.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 28 && pending.length >= pending.readUInt32BE(0)) {
        const message = pending.subarray(0, pending.readUInt32BE(0));
        pending = pending.subarray(message.length);
        finishing ||= message.readUInt32BE(4) === REMOTE_PROGRAM && message.readUInt32BE(12) === FINISH;
        if (finishing && this.finish === 'lostRequest') return cut();
        far.write(message);
      }
    });
    far.on('data', (chunk) => {
      if (finishing) this.onFinish();
      if (finishing && this.finish === 'lostReply') return cut();
      near.write(chunk);
    });
  }
}

/** Path of a file of the Pod's, outside of it. */
function outside(pod: LauncherPod, path: string): string {
  const entry = Object.entries(LAUNCHER_VOLUMES).find(([, volume]) => path.startsWith(`${volume.path}/`));
  if (entry === undefined) throw new Error(`${path} is in no volume`);
  const [key, volume] = entry as [keyof typeof LAUNCHER_VOLUMES, { path: string }];
  return join(pod.volume(key), relative(volume.path, path));
}

export const options: MigrationOptions = {
  completionTimeoutPerGiB: 150,
  progressTimeout: 150,
  allowAutoConverge: false,
  allowPostCopy: false,
  allowWorkloadDisruption: false,
  unsafe: false,
};

export interface Side {
  pod: LauncherPod;
  client: LauncherClient;
}

export interface Migration {
  uid: string;
  source: Side;
  target: Side;
  proxy: TestProxy;
  /** Request of MigrateVMI. */
  request: (changes?: Partial<MigrationOptions>) => object;
  view: (side: 'source' | 'target') => Promise<MigrationView>;
}

/** A guest that runs in one Pod, with its agent, and another Pod that is prepared to take it. */
export async function prepareMigration(
  vmi: TestVmiOptions = {},
  images?: (pod: LauncherPod) => void,
): Promise<Migration> {
  const source = await startPod();
  images?.(source.pod);
  const watch = source.client.watch();
  await source.client.report('SyncVMI', syncRequest(source.pod, vmi));
  await agentConnected(watch.reports);
  watch.stop();
  return prepareTarget(source, vmi, images);
}

/** Another Pod that is prepared to take the guest of this one. */
export async function prepareTarget(
  source: Side,
  vmi: TestVmiOptions = {},
  images?: (pod: LauncherPod) => void,
): Promise<Migration> {
  const uid = randomUUID();
  const target = await startPod({ vmi: source.pod.vmi });
  images?.(target.pod);
  const view = (side: 'source' | 'target'): Promise<MigrationView> =>
    (side === 'source' ? source : target).client.json('GetMigration', { migrationUid: uid });
  const disks: CopiedDisk[] = (await view('source')).copiedDisks ?? [];
  const { libvirtSocket } = await target.client.json<PrepareTargetReply>('PrepareMigrationTarget', {
    migrationUid: uid,
    tokenEpoch: 1,
    vmi: testVmi(source.pod.vmi, vmi),
    host: testHost,
    disks,
  });
  const proxy = track(new TestProxy(source.pod, target.pod, libvirtSocket));
  const request = (changes: Partial<MigrationOptions> = {}): object => ({
    migrationUid: uid,
    options: { ...options, ...changes },
    targetHost: testHost,
  });
  return { uid, source, target, proxy, request, view };
}
