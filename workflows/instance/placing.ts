import type { PodFacts } from '../../api/contract/facts.ts';
import type { PodRef } from '../../api/contract/refs.ts';
import type { InstanceState } from './state.ts';

/** The Pod that may hold the domain, with what was heard of it before it was known. */
export const withPod = (state: InstanceState, pod: PodRef): InstanceState => {
  if (state.pod?.uid === pod.uid) return { ...state, pod };
  const { podFacts: _facts, domain: _domain, heard: facts, heardDomain: domain, ...rest } = state;
  return {
    ...{ ...rest, pod },
    ...(facts?.uid === pod.uid ? { podFacts: facts } : {}),
    ...(domain?.podUid === pod.uid ? { domain } : {}),
  };
};

/** It is the Pod of the start under way, which has nothing to tell of it. */
export const isOfStart = ({ ref, operation }: InstanceState, { createdBy, attempt }: PodFacts): boolean =>
  operation?.kind === 'start' && operation.attempt === attempt && createdBy === ref.uid;
