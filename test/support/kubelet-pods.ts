import { mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { LAUNCHER_VOLUMES } from '../../api/launcher/paths.ts';
import type { LauncherPod } from './launcher-pod.ts';

/** A kubelet's pods directory with this one Pod in it. Short: a unix socket's path has at most 107 bytes. */
export const podsDirectoryWith = async (pod: LauncherPod): Promise<string> => {
  const directory = await mkdtemp('/tmp/');
  const volumes = join(directory, pod.uid, 'volumes/kubernetes.io~empty-dir');
  await mkdir(volumes, { recursive: true });
  for (const [key, { name }] of Object.entries(LAUNCHER_VOLUMES)) {
    await symlink(pod.volume(key as keyof typeof LAUNCHER_VOLUMES), join(volumes, name));
  }
  return directory;
};
