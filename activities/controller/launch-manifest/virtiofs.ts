import type { Container } from '../../../api/kubernetes/types.ts';
import type { Volume } from '../../../api/kubevirt/types.ts';
import { LAUNCHER_UID, VIRTIOFS, secretDirectory, virtiofsSocket } from '../../../api/launcher/paths.ts';
import type { LaunchInput } from './input.ts';
import type { Mounted } from './mounted.ts';
import { filesystemResources } from './support-resources.ts';
import { claimNameOf } from './traits.ts';

/** Volumes that the guest shares. */
const shared = ({ vmi }: LaunchInput): Volume[] =>
  (vmi.spec.domain.devices.filesystems ?? []).flatMap(
    ({ name }) => vmi.spec.volumes?.find((volume) => volume.name === name) ?? [],
  );

/** Where the daemons' sockets lie. */
export const virtiofsVolume = (input: LaunchInput): Mounted[] =>
  shared(input).length === 0
    ? []
    : [{ volume: { name: VIRTIOFS.name, emptyDir: {} }, mount: { name: VIRTIOFS.name, mountPath: VIRTIOFS.path } }];

/** One container for each directory that the guest shares with its Pod: it serves nothing but that. */
export const virtiofsContainers = (input: LaunchInput): Container[] =>
  shared(input).map((volume) => {
    const { name } = volume;
    const directory = claimNameOf(volume) === undefined ? secretDirectory(name) : `/${name}`;
    return {
      name: `virtiofs-${name}`,
      image: input.launcherImage,
      imagePullPolicy: input.config.imagePullPolicy,
      command: ['/usr/libexec/virtiofsd'],
      args: [`--socket-path=${virtiofsSocket(name)}`, `--shared-dir=${directory}`, '--sandbox=none', '--cache=auto'],
      resources: filesystemResources(input),
      securityContext: {
        runAsUser: LAUNCHER_UID,
        runAsGroup: LAUNCHER_UID,
        runAsNonRoot: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      },
      volumeMounts: [
        { name: VIRTIOFS.name, mountPath: VIRTIOFS.path },
        { name, mountPath: directory },
      ],
    };
  });
