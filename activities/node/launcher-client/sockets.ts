import { lstat, readdir } from 'node:fs/promises';
import { ZodError } from 'zod';
import { COMMAND_SOCKET, LAST_REPORT_FILE, LAUNCHER_VOLUMES } from '../../../api/launcher/paths.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { errorCode } from '../files/error-code.ts';
import { isDirectory } from '../files/is-directory.ts';
import { openFileIn, PathError } from '../files/open-in-root.ts';
import { parseReport } from './schemas.ts';

/** The kubelet's pods directory as the node worker sees it; short, because a unix socket's path has at most 107 bytes. */
export const PODS_DIRECTORY = '/pods';

/** Host directory of one of the Pod's emptyDir volumes. */
export const podVolume = (pods: string, podUid: string, volume: keyof typeof LAUNCHER_VOLUMES): string =>
  `${pods}/${podUid}/volumes/kubernetes.io~empty-dir/${LAUNCHER_VOLUMES[volume].name}`;

/** Directories of the kubelet's pods directory that belong to launcher Pods. */
export const launcherPods = async (pods: string): Promise<string[]> => {
  const uids = (await readdir(pods)).filter((name) => /^[0-9a-f-]{36}$/.test(name));
  const found = await Promise.all(uids.map((uid) => isDirectory(podVolume(pods, uid, 'sockets'))));
  return uids.filter((_, index) => found[index]);
};

export const commandSocket = (pods: string, podUid: string): string =>
  `${podVolume(pods, podUid, 'sockets')}/${COMMAND_SOCKET}`;

/** True once the launcher is ready to be talked to. Its volume is writable by the launcher: a link is not followed. */
export const hasCommandSocket = async (pods: string, podUid: string): Promise<boolean> => {
  try {
    return (await lstat(commandSocket(pods, podUid))).isSocket();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
};

/** A report is a few kilobytes; whatever is larger is not one. */
const MAX_REPORT_BYTES = 256 * 1024;

/**
 * What the launcher said last, from its state volume; readable until the kubelet removes the Pod's directory. Undefined: none, or unreadable
 * (the file belongs to the launcher, so nothing is relied on but its own word about its own domain).
 */
export const lastReport = async (pods: string, podUid: string): Promise<DomainReport | undefined> => {
  let file;
  try {
    file = await openFileIn(podVolume(pods, podUid, 'state'), LAST_REPORT_FILE);
    const { size } = await file.stat();
    if (size > MAX_REPORT_BYTES) return undefined;
    return parseReport(await file.readFile('utf8'));
  } catch (error) {
    if (error instanceof PathError || isExpected(error)) return undefined;
    throw error;
  } finally {
    await file?.close();
  }
};

const isExpected = (error: unknown): boolean =>
  error instanceof SyntaxError || error instanceof ZodError || errorCode(error) === 'ENOENT';
