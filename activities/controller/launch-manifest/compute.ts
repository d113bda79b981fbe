import { LAUNCHER_ENV } from '../../../api/launcher/paths.ts';
import type { Container } from '../../../api/kubernetes/types.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { COMPUTE } from '../../facts/labels.ts';
import { LAUNCH_NOTES } from '../../facts/launch-notes.ts';
import { shareTools } from './container-images.ts';
import type { LaunchInput } from './input.ts';
import type { Mounted } from './mounted.ts';
import { computeProbes } from './probes.ts';
import { computeResources } from './resources.ts';
import { computeSecurity } from './security.ts';
import { gracePeriodOf } from './traits.ts';

/** The container of launcher, libvirtd and QEMU. Its image's own entry point starts them. */
export const computeContainer = (input: LaunchInput, mounted: Mounted[]): Container => {
  const { vmi, config, launcherImage } = input;
  const ports = portsOf(vmi);
  const devices = mounted.flatMap(({ device }) => (device ? [device] : []));
  return {
    name: COMPUTE,
    image: launcherImage,
    imagePullPolicy: config.imagePullPolicy,
    env: environment(input),
    resources: computeResources(input),
    securityContext: computeSecurity(input),
    volumeMounts: mounted.flatMap(({ mount }) => (mount ? [mount] : [])),
    ...(devices.length > 0 ? { volumeDevices: devices } : {}),
    ...(ports.length > 0 ? { ports } : {}),
    ...computeProbes(vmi),
    ...shareTools(input),
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
};

const environment = ({ vmi, config, purpose, epoch }: LaunchInput): NonNullable<Container['env']> => {
  const value = (name: string, text: string): { name: string; value: string } => ({ name, value: text });
  const field = (name: string, fieldPath: string): NonNullable<Container['env']>[number] => ({
    name,
    valueFrom: { fieldRef: { fieldPath } },
  });
  return [
    value(LAUNCHER_ENV.namespace, vmi.metadata?.namespace ?? ''),
    value(LAUNCHER_ENV.name, vmi.metadata?.name ?? ''),
    value(LAUNCHER_ENV.uid, vmi.metadata?.uid ?? ''),
    value(LAUNCHER_ENV.gracePeriod, String(gracePeriodOf(vmi))),
    field(LAUNCHER_ENV.podUid, 'metadata.uid'),
    field(LAUNCHER_ENV.podName, 'metadata.name'),
    value(LAUNCH_NOTES.epoch, String(epoch)),
    'attempt' in purpose
      ? value(LAUNCH_NOTES.attempt, String(purpose.attempt))
      : value(LAUNCH_NOTES.postCopy, String(config.migrations.allowPostCopy)),
  ];
};

/** Ports that the guest says it serves. */
const portsOf = ({ spec }: VirtualMachineInstance): NonNullable<Container['ports']> =>
  (spec.domain.devices.interfaces ?? [])
    .flatMap(({ ports = [] }) => ports)
    .map(({ name, port, protocol }) => ({
      containerPort: port,
      protocol: protocol || 'TCP',
      ...(name ? { name } : {}),
    }));
