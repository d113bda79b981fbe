import type { Rule } from './cause.ts';
import { invalid, when } from './cause.ts';
import { isLabel, isSubdomain } from './formats.ts';
import type { NewerSpec } from './newer-fields.ts';

/** Names that become names in DNS, and the service account. */
export const nameRules: Rule = ({ spec }) => {
  const { hostname = '', subdomain = '', serviceAccountName = '', volumes = [] }: NewerSpec = spec;
  const other = volumes.find(
    ({ serviceAccount }) => serviceAccount !== undefined && serviceAccount.serviceAccountName !== serviceAccountName,
  );
  return [
    ...when(hostname !== '' && !isLabel(hostname), () =>
      invalid('spec.hostname', `"${hostname}" is no host name: use at most 63 lower-case letters, digits and hyphens`),
    ),
    ...when(subdomain !== '' && !isSubdomain(subdomain), () =>
      invalid('spec.subdomain', `"${subdomain}" is no domain: use lower-case letters, digits, hyphens and dots`),
    ),
    ...when(serviceAccountName !== '' && !isSubdomain(serviceAccountName), () =>
      invalid('spec.serviceAccountName', `"${serviceAccountName}" is no name of a service account`),
    ),
    ...when(serviceAccountName !== '' && other !== undefined, () =>
      invalid(
        'spec.serviceAccountName',
        `volume "${other?.name}" names another service account than "${serviceAccountName}": a Pod has one`,
      ),
    ),
  ];
};
