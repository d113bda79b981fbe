import { LAUNCHER_UID } from '../../../api/launcher/paths.ts';
import type { ClusterConfig } from '../../../api/cluster-config/index.ts';
import type { Container, PodSpec } from '../../../api/kubernetes/types.ts';
import type { LaunchInput } from './input.ts';

type PodSecurity = NonNullable<PodSpec['securityContext']>;
type ContainerSecurity = NonNullable<Container['securityContext']>;

/** Every container runs as the launcher's user, with the seccomp profile of the configuration. */
export const podSecurity = ({ seccomp, selinuxLauncherType }: ClusterConfig): PodSecurity => ({
  runAsUser: LAUNCHER_UID,
  runAsGroup: LAUNCHER_UID,
  runAsNonRoot: true,
  fsGroup: LAUNCHER_UID,
  ...(seccomp === undefined ? {} : { seccompProfile: profileOf(seccomp) }),
  ...(selinuxLauncherType === undefined ? {} : { seLinuxOptions: { type: selinuxLauncherType } }),
});

const profileOf = (seccomp: NonNullable<ClusterConfig['seccomp']>): NonNullable<PodSecurity['seccompProfile']> =>
  'localhostProfile' in seccomp
    ? { type: 'Localhost', localhostProfile: seccomp.localhostProfile }
    : { type: 'RuntimeDefault' };

/**
 * `compute` may bind the ports of DHCP and its like. Post-copy fetches memory with userfaultfd, which the runtimes' own profiles forbid: where the cluster or
 * a policy allows post-copy, the target of a migration has none instead.
 */
export const computeSecurity = ({ config, purpose }: Pick<LaunchInput, 'config' | 'purpose'>): ContainerSecurity => ({
  runAsUser: LAUNCHER_UID,
  runAsGroup: LAUNCHER_UID,
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
  ...('migration' in purpose && config.migrations.allowPostCopy && isRuntimeDefault(config)
    ? { seccompProfile: { type: 'Unconfined' } }
    : {}),
});

const isRuntimeDefault = ({ seccomp }: ClusterConfig): boolean => seccomp !== undefined && 'runtimeDefault' in seccomp;

export const helperSecurity: ContainerSecurity = {
  runAsUser: LAUNCHER_UID,
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
};
