import { LAUNCHER_VOLUMES, SERIAL_LOG } from '../../../api/launcher/paths.ts';
import type { Container } from '../../../api/kubernetes/types.ts';
import { CONSOLE_LOG } from '../../facts/labels.ts';
import type { LaunchInput } from './input.ts';
import { readOnly } from './mounted.ts';
import { helperSecurity } from './security.ts';
import { consoleLogResources } from './support-resources.ts';

/** Follows the log from its first line, whenever it appears, and ends at once when told to. */
const FOLLOW = `trap 'kill $!; exit 0' TERM INT; /usr/lib/virtflow/busybox tail -n +1 -F ${SERIAL_LOG} 2>/dev/null & wait`;

/** Prints the guest's serial console, so that `kubectl logs -c guest-console-log` shows it. Restarts and ends beside `compute`. */
export const consoleLogContainer = (input: LaunchInput): Container[] =>
  isLogged(input)
    ? [
        {
          name: CONSOLE_LOG,
          image: input.launcherImage,
          imagePullPolicy: input.config.imagePullPolicy,
          restartPolicy: 'Always',
          command: ['/usr/lib/virtflow/busybox', 'sh', '-c', FOLLOW],
          volumeMounts: [readOnly(LAUNCHER_VOLUMES.libvirt.name, LAUNCHER_VOLUMES.libvirt.path)],
          resources: consoleLogResources(input),
          securityContext: helperSecurity,
        },
      ]
    : [];

const isLogged = ({ vmi, config }: LaunchInput): boolean => {
  const { autoattachSerialConsole, logSerialConsole } = vmi.spec.domain.devices;
  return autoattachSerialConsole !== false && (logSerialConsole ?? config.virtualMachineOptions.serialConsoleLog);
};
