import type { Cause, Rule } from './cause.ts';
import { invalid, oneOf, required, unsupported, when } from './cause.ts';
import { isIP, isSubdomain } from './formats.ts';

const POLICIES = ['', 'ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
/** Bounds of resolv.conf, as Kubernetes has them. */
const MAX = { nameservers: 3, searches: 6, searchText: 256 };

/** The resolver of the Pod. */
export const dnsRules: Rule = ({ spec }) => {
  const { dnsConfig, dnsPolicy } = spec;
  const policy = oneOf('spec.dnsPolicy', dnsPolicy, POLICIES, unsupported);
  if (dnsPolicy === 'None' && dnsConfig === undefined)
    return [required('spec.dnsConfig', 'dnsPolicy None takes the resolver from dnsConfig: set it')];
  if (dnsPolicy === 'None' && (dnsConfig?.nameservers ?? []).length === 0)
    return [required('nameservers', 'dnsPolicy None needs a name server in spec.dnsConfig')];
  return [
    ...policy,
    ...servers(dnsConfig?.nameservers ?? []),
    ...searches(dnsConfig?.searches ?? []),
    ...when(
      (dnsConfig?.options ?? []).some(({ name }) => !name),
      () => invalid('options', 'an option of spec.dnsConfig has no name'),
    ),
  ];
};

const servers = (nameservers: string[]): Cause[] => [
  ...when(nameservers.length > MAX.nameservers, () =>
    invalid(
      'nameservers',
      `spec.dnsConfig has ${nameservers.length} name servers, at most ${MAX.nameservers} are used`,
    ),
  ),
  ...nameservers.flatMap((server) =>
    when(!isIP(server), () => invalid('nameservers', `"${server}" of spec.dnsConfig is no IP address`)),
  ),
];

const searches = (domains: string[]): Cause[] => [
  ...when(domains.length > MAX.searches, () =>
    invalid('searchDomains', `spec.dnsConfig has ${domains.length} search domains, at most ${MAX.searches} are used`),
  ),
  ...when(domains.join(' ').length > MAX.searchText, () =>
    invalid('searchDomains', `the search domains of spec.dnsConfig have more than ${MAX.searchText} characters`),
  ),
  ...domains.flatMap((domain) =>
    when(!isSubdomain(domain), () => invalid('searchDomains', `"${domain}" of spec.dnsConfig is no domain`)),
  ),
];
