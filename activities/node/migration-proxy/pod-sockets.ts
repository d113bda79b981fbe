import { chmod, chown, unlink } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import { LAUNCHER_UID, LAUNCHER_VOLUMES } from '../../../api/launcher/paths.ts';
import { failure } from '../../failures.ts';
import { errorCode } from '../files/error-code.ts';
import { descriptorPath, openSocketIn } from '../files/open-in-root.ts';
import { podVolume } from '../launcher-client/sockets.ts';

/** Volumes in which a launcher has sockets that others may connect to. */
const WITH_SOCKETS = ['sockets', 'libvirt'] as const;

/** Which volume a path inside the Pod is in, and where. Undefined: in none that holds sockets. */
export const placeInPod = (path: string): { volume: (typeof WITH_SOCKETS)[number]; file: string } | undefined => {
  for (const volume of WITH_SOCKETS) {
    const root = `${LAUNCHER_VOLUMES[volume].path}/`;
    if (path.startsWith(root)) return { volume, file: path.slice(root.length) };
  }
  return undefined;
};

/**
 * Connects to a socket in a Pod, whose content is not trusted: no link leads out of its volume, and the path may be longer than a socket's address.
 * @throws Error that says what is not there
 */
export const connectInPod = async (pods: string, podUid: string, path: string, timeoutMs: number): Promise<Socket> => {
  const place = placeInPod(path);
  if (place === undefined) throw new Error(`${path} is in no volume of the Pod that holds sockets`);
  const handle = await openSocketIn(podVolume(pods, podUid, place.volume), place.file);
  try {
    return await connected(connect({ path: descriptorPath(handle), allowHalfOpen: true }), timeoutMs);
  } finally {
    await handle.close();
  }
};

const connected = (socket: Socket, timeoutMs: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error(`nobody answers within ${timeoutMs} ms`)), timeoutMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(socket);
    });
    // Stays: an error that nobody listens to would end the process.
    socket.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });

const MODE = 0o600;

/**
 * Serves a socket in a Pod's `sockets` volume, for the launcher alone. Closing the server removes the socket. What stood there under its name is
 * replaced.
 * @throws PodFailed when the volume is gone
 */
export const serveInPod = async (
  pods: string,
  podUid: string,
  file: string,
  serve: (socket: Socket) => void,
  maxConnections: number,
): Promise<Server> => {
  const volume = podVolume(pods, podUid, 'sockets');
  // Neither bind(2) nor unlink(2) follows a link in the last place, and what is before it is the kubelet's.
  const path = `${volume}/${file}`;
  await unlink(path).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
  });
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, serve);
  server.maxConnections = maxConnections;
  try {
    await listening(server, path);
    await giveToLauncher(volume, file);
  } catch (error) {
    server.close();
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(errorCode(error) ?? '')) {
      throw failure('PodFailed', `Pod ${podUid} has no volume for sockets (any more): ${volume}`, error);
    }
    throw error;
  }
  return server;
};

const listening = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });

/** By the open socket, not by its name: under that the launcher could have put a link meanwhile. */
const giveToLauncher = async (volume: string, file: string): Promise<void> => {
  const handle = await openSocketIn(volume, file);
  try {
    await chmod(descriptorPath(handle), MODE);
    await chown(descriptorPath(handle), LAUNCHER_UID, LAUNCHER_UID);
  } finally {
    await handle.close();
  }
};
