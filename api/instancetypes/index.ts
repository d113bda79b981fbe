export type { Applied } from './expand.ts';
export { expanded, instanceWithTypes, withTypes } from './expand.ts';
export { preferAtCreation } from './apply-preference.ts';
export type { Matcher, ReferencedKind, ReferenceField, StatusReference } from './references.ts';
export {
  hasReferences,
  INSTANCETYPE_API_VERSION,
  isClusterWide,
  kindOf,
  namedRevision,
  REFERENCES,
  statusReference,
  statusReferenceOf,
  storedRevision,
} from './references.ts';
export { requirementCauses } from './requirements.ts';
export { revisionOf, withRevisions } from './revision.ts';
export type { Instancetype, InstancetypeSpec, InstanceTypes, Preference, PreferenceSpec } from './types.ts';
export { instancetypeCauses, instancetypeWarnings, preferenceCauses, preferenceWarnings } from './validate.ts';
