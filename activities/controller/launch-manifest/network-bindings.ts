import { ManifestError } from './input.ts';
import type { LaunchInput } from './input.ts';

/** @throws ManifestError for an interface whose binding is a plug-in that the configuration does not name */
export const requireBindings = ({ vmi, config }: LaunchInput): void => {
  for (const [index, { binding }] of (vmi.spec.domain.devices.interfaces ?? []).entries()) {
    if (binding === undefined || config.networkBindings.includes(binding.name)) continue;
    throw new ManifestError(
      `spec.domain.devices.interfaces[${index}].binding.name: "${binding.name}" is no plug-in of this cluster: ` +
        'use masquerade, or add it to spec.configuration.network.binding of the KubeVirt object',
    );
  }
};
