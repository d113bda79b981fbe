import type { Probe } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, required, when } from './cause.ts';

const KINDS = ['httpGet', 'tcpSocket', 'exec', 'guestAgentPing'] as const;

/** A probe asks in one way; over the network only where the Pod is on it. */
export const probeRules: Rule = ({ spec }) => {
  const onPodNetwork = (spec.networks ?? []).some(({ pod }) => pod !== undefined);
  return [
    ...oneProbe(spec.readinessProbe, 'spec.readinessProbe', onPodNetwork),
    ...oneProbe(spec.livenessProbe, 'spec.livenessProbe', onPodNetwork),
  ];
};

const oneProbe = (probe: Probe | undefined, field: string, onPodNetwork: boolean): Cause[] => {
  if (probe === undefined) return [];
  const kinds = KINDS.filter((kind) => probe[kind] !== undefined);
  return [
    ...when(kinds.length > 1, () => invalid(field, `it has several kinds (${kinds.join(', ')}): keep one`)),
    ...when(kinds.length === 0, () => required(field, `say how to probe: set one of ${KINDS.join(', ')}`)),
    ...kinds
      .filter((kind) => !onPodNetwork && (kind === 'httpGet' || kind === 'tcpSocket'))
      .map((kind) =>
        invalid(`${field}.${kind}`, 'the guest is not on the Pod network: probe by exec or guestAgentPing'),
      ),
  ];
};
