import { SKIP_BACKUP_HOOKS } from '../../../api/cluster-config/index.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import { isTrue } from '../../../api/kubernetes/boolean.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { COMPUTE } from '../../facts/labels.ts';

/** Hooks by which Velero has the guest's file systems frozen and thawed around a backup; the VMI's own setting wins. */
export const storageAnnotations = (
  { metadata }: VirtualMachineInstance,
  config: Pick<ClusterConfig, 'skipBackupHooks'>,
): Record<string, string> => {
  const own = metadata?.annotations?.[SKIP_BACKUP_HOOKS];
  if (own === undefined ? config.skipBackupHooks : isTrue(own)) return {};
  const command = (action: string): string =>
    `["/usr/bin/virt-freezer", "${action}", "--name", "${metadata?.name}", "--namespace", "${metadata?.namespace}"]`;
  return {
    'pre.hook.backup.velero.io/container': COMPUTE,
    'pre.hook.backup.velero.io/command': command('--freeze'),
    'pre.hook.backup.velero.io/timeout': '60s',
    'post.hook.backup.velero.io/container': COMPUTE,
    'post.hook.backup.velero.io/command': command('--unfreeze'),
  };
};
