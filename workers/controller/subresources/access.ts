import type { IncomingMessage } from 'node:http';
import type { Rest } from '../../../activities/kube/rest.ts';
import { SUBRESOURCES_GROUP } from '../../../api/subresources/catalogue.ts';
import type { Access } from '../../../api/subresources/route.ts';
import type { Status } from '../../../api/subresources/status.ts';
import { accessDenied, unauthorized } from '../../../api/subresources/status.ts';
import { authorizer } from './authorize.ts';
import type { FrontProxy } from './front-proxy.ts';
import { authenticate } from './front-proxy.ts';

/** Why whoever makes a request may not do this; undefined: they may. @throws KubeError when it cannot be told */
export type Denial = (request: IncomingMessage, access: Access) => Promise<Status | undefined>;

/** Requests count only when the front proxy brings them, and for what their user may do. */
export const accessControl = (rest: Rest, frontProxy: () => FrontProxy | undefined): Denial => {
  const authorize = authorizer(rest);
  return async (request, access) => {
    const user = authenticate(request, frontProxy());
    if (typeof user === 'string') return unauthorized(user);
    const { allowed, reason } = await authorize(user, access);
    return allowed ? undefined : denied(user.name, access, reason);
  };
};

/** In the words of the API server's own refusals. */
const denied = (user: string, access: Access, reason: string): Status => {
  const { verb, resource, subresource, namespace, name = '' } = access;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const cannot = `User "${user}" cannot ${verb} resource "${what}" in API group "${SUBRESOURCES_GROUP}" in the namespace "${namespace}"`;
  return accessDenied(
    `${resource}.${SUBRESOURCES_GROUP} "${name}" is forbidden: ${cannot}${reason === '' ? '' : `: ${reason}`}`,
    { name, group: SUBRESOURCES_GROUP, kind: resource },
  );
};
