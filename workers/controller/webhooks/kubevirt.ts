import { kubeVirtWithoutEffect, onlyKubeVirt, validateKubeVirt } from '../../../api/validation/index.ts';
import { theKubeVirt } from '../cluster-config.ts';
import type { AdmissionPorts } from './ports.ts';
import type { Judge } from './review.ts';
import { ALLOWED, refusedFor } from './review.ts';
import { warningsFor } from './warnings.ts';

/** Refuses a configuration that cannot be read, and a second one, which nobody would read. */
export const validateKubeVirtRequest =
  ({ kube }: AdmissionPorts): Judge =>
  async (request) => {
    const { object, operation } = request;
    if (object == null) return ALLOWED;
    const other = operation === 'CREATE' ? theKubeVirt(await kube.list('KubeVirt'))?.metadata : undefined;
    const causes = [
      ...(other === undefined ? [] : [onlyKubeVirt(`${other.namespace}/${other.name}`)]),
      ...validateKubeVirt(object),
    ];
    if (causes.length > 0) return refusedFor(request, causes);
    return { allowed: true, warnings: warningsFor(kubeVirtWithoutEffect(object)) };
  };
