import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  apiGroup,
  apiGroups,
  apiResources,
  openApiV2,
  openApiV3,
  openApiV3Of,
  rootPaths,
} from '../../../api/subresources/discovery.ts';
import type { Route } from '../../../api/subresources/route.ts';
import type { Answer } from './answer.ts';

type DiscoveryRoute = Extract<Route, { kind: 'discovery' }>;

/** The documents by which API servers and clients learn what is here. They never change while the process lives. */
export const discovery = (): ((route: DiscoveryRoute, request: IncomingMessage) => Answer) => {
  const documents = new Map<string, { json: object; etag: string }>();
  const documentOf = (route: DiscoveryRoute): { json: object; etag: string } => {
    const key = `${route.document} ${route.version}`;
    const known = documents.get(key);
    if (known !== undefined) return known;
    const json = build(route);
    const hash = createHash('sha256').update(JSON.stringify(json)).digest('hex').slice(0, 32);
    const made = { json, etag: `"${hash}"` };
    documents.set(key, made);
    return made;
  };
  return (route, request) => {
    const { json, etag } = documentOf(route);
    return request.headers['if-none-match'] === etag ? { status: 304, etag } : { status: 200, json, etag };
  };
};

const build = ({ document, version }: DiscoveryRoute): object => {
  switch (document) {
    case 'root':
      return rootPaths();
    case 'groups':
      return apiGroups();
    case 'group':
      return apiGroup();
    case 'resources':
      return apiResources(version);
    case 'openapi-v2':
      return openApiV2();
    case 'openapi-v3':
      return version === '' ? openApiV3() : openApiV3Of(version);
  }
};
