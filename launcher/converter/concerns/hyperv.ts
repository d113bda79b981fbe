import type { Features as FeaturesSpec } from '../../../api/kubevirt/types.ts';
import { given, state } from '../concern.ts';
import type { Hyperv } from '../domain.ts';

/** Hyper-V enlightenments: each as the spec names it, or all that the host can do (hypervPassthrough). */
export function hyperv(features: FeaturesSpec | undefined): Hyperv | undefined {
  const spec = features?.hyperv;
  if (!spec) return features?.hypervPassthrough?.enabled ? { '@mode': 'passthrough' } : undefined;
  const { spinlocks, vendorid, synictimer, tlbflush } = spec;
  return {
    relaxed: state(spec.relaxed),
    vapic: state(spec.vapic),
    spinlocks: extended(spinlocks, { '@retries': spinlocks?.spinlocks }),
    vpindex: state(spec.vpindex),
    runtime: state(spec.runtime),
    synic: state(spec.synic),
    stimer: extended(synictimer, { direct: state(synictimer?.direct) }),
    reset: state(spec.reset),
    vendor_id: extended(vendorid, { '@value': given(vendorid?.vendorid) }),
    frequencies: state(spec.frequencies),
    reenlightenment: state(spec.reenlightenment),
    tlbflush: extended(tlbflush, { direct: state(tlbflush?.direct), extended: state(tlbflush?.extended) }),
    ipi: state(spec.ipi),
    evmcs: state(spec.evmcs),
  };
}

function extended<Extra>(
  feature: { enabled?: boolean } | undefined,
  extra: Extra,
): (NonNullable<ReturnType<typeof state>> & Extra) | undefined {
  const base = state(feature);
  return base && { ...base, ...extra };
}
