import type { ClusterConfig } from '../cluster-config/index.ts';
import { withSpecDefaults } from '../defaults/index.ts';
import { matchesSelector } from '../kubernetes/label-selector.ts';
import type { VirtualMachineInstanceReplicaSet } from '../kubevirt/types.ts';
import type { Cause } from './cause.ts';
import { inTemplate, invalid, when } from './cause.ts';
import { causesOf, SPEC_RULES } from './instance.ts';
import { metadataCauses } from './metadata.ts';
import type { Requester } from './requester.ts';
import { USER } from './requester.ts';
import { selectorCauses } from './scheduling.ts';

const SELECTOR = 'spec.selector';

/** Every reason to refuse a new replica set, or a change of one, all at once; none: it is taken. */
export const validateReplicaSet = (
  { spec }: VirtualMachineInstanceReplicaSet,
  config: ClusterConfig,
  requester: Requester = USER,
): Cause[] => {
  const { metadata = {}, spec: template = { domain: { devices: {} } } } = spec.template;
  const malformed = selectorCauses(spec.selector, SELECTOR);
  return [
    ...malformed,
    ...when(malformed.length === 0 && !matchesSelector(spec.selector, metadata.labels ?? {}), () =>
      invalid(
        SELECTOR,
        'it does not select what the template makes: give spec.template.metadata.labels the same labels',
      ),
    ),
    ...inTemplate(metadataCauses(metadata, config, requester)),
    ...inTemplate(causesOf(SPEC_RULES, { metadata, spec: withSpecDefaults(template, config) }, config)),
  ];
};
