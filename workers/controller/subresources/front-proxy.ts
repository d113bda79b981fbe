import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { z } from 'zod';
import type { Rest } from '../../../activities/kube/rest.ts';
import type { ConfigMap } from '../../../api/kubernetes/types.ts';
import type { Check } from '../../shared/health.ts';
import type { Logger } from '../../shared/logging.ts';
import type { ClientAuthorities } from '../https/server.ts';
import { Informer } from '../../shared/informer.ts';

/** Where every API server says how it forwards requests to aggregated ones. */
const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';

/** How the API server's proxy shows itself and names the user for whom it asks. */
export interface FrontProxy {
  /** Authorities of its client certificate, PEM. */
  authorities: string;
  /** Common names that it may have; none: any that the authorities sign. */
  allowedNames: string[];
  usernameHeaders: string[];
  uidHeaders: string[];
  groupHeaders: string[];
  extraHeaderPrefixes: string[];
}

/** Who asks, as the API server has authenticated them. */
export interface User {
  name: string;
  uid?: string;
  groups: string[];
  extra: Record<string, string[]>;
}

const names = z.array(z.string());

/** @throws Error naming the key that is missing or cannot be read */
export const readFrontProxy = ({ data = {} }: ConfigMap): FrontProxy => {
  const list = (key: string, fallback: string[]): string[] => {
    const text = data[key];
    if (text === undefined || text === '') return fallback;
    try {
      return names.parse(JSON.parse(text));
    } catch {
      throw new Error(`${key} of ConfigMap ${NAMESPACE}/${NAME} is no list of names in JSON`);
    }
  };
  const authorities = data['requestheader-client-ca-file'];
  if (authorities === undefined || authorities === '') {
    throw new Error(
      `ConfigMap ${NAMESPACE}/${NAME} has no requestheader-client-ca-file: start the API server with the flags of its aggregation layer`,
    );
  }
  return {
    authorities,
    allowedNames: list('requestheader-allowed-names', []),
    usernameHeaders: list('requestheader-username-headers', ['X-Remote-User']),
    uidHeaders: list('requestheader-uid-headers', []),
    groupHeaders: list('requestheader-group-headers', ['X-Remote-Group']),
    extraHeaderPrefixes: list('requestheader-extra-headers-prefix', ['X-Remote-Extra-']),
  };
};

/** For whom the API server's proxy asks; a text: why the request is not believed. */
export const authenticate = (request: IncomingMessage, proxy: FrontProxy | undefined): User | string => {
  if (proxy === undefined) return 'it is not known yet whom to believe';
  const { socket } = request;
  if (!(socket instanceof TLSSocket) || !socket.authorized) {
    return 'the request does not come from the API server: it has no client certificate of the front proxy';
  }
  const commonNames = [socket.getPeerCertificate().subject.CN ?? ''].flat();
  if (proxy.allowedNames.length > 0 && !commonNames.every((one) => proxy.allowedNames.includes(one))) {
    return `the client certificate's name "${commonNames.join(', ')}" is none of the front proxy's`;
  }
  const headers = new Map(Object.entries(request.headersDistinct));
  const first = (keys: string[]): string[] =>
    keys.map((key) => headers.get(key.toLowerCase()) ?? []).find((values) => values.length > 0) ?? [];
  const name = first(proxy.usernameHeaders)[0] ?? '';
  if (name === '') return 'the request names no user';
  const uid = first(proxy.uidHeaders)[0];
  return {
    name,
    ...(uid === undefined ? {} : { uid }),
    groups: first(proxy.groupHeaders),
    extra: extraOf(headers, proxy.extraHeaderPrefixes),
  };
};

const extraOf = (
  headers: ReadonlyMap<string, string[] | undefined>,
  prefixes: readonly string[],
): Record<string, string[]> => {
  const extra: Record<string, string[]> = {};
  for (const prefix of prefixes.map((one) => one.toLowerCase())) {
    for (const [header, values = []] of headers) {
      if (!header.startsWith(prefix)) continue;
      const key = unescaped(header.slice(prefix.length));
      extra[key] = [...(extra[key] ?? []), ...values];
    }
  }
  return extra;
};

/** Header names hold %-encoded bytes; what is none is taken as it is. */
const unescaped = (key: string): string => {
  try {
    return decodeURIComponent(key).toLowerCase();
  } catch {
    return key;
  }
};

export interface FrontProxyWatch extends ClientAuthorities {
  /** Undefined until it was read for the first time. */
  config(): FrontProxy | undefined;
  check: () => Check;
  /** Runs until the signal. */
  done: Promise<void>;
}

/** Keeps what the API server says of its proxy; what cannot be read leaves the last good one in force. */
export const watchFrontProxy = (rest: Rest, log: Logger, signal: AbortSignal): FrontProxyWatch => {
  let config: FrontProxy | undefined;
  const listeners = new Set<() => void>();
  const informer = new Informer({
    rest,
    kind: 'ConfigMap',
    namespace: NAMESPACE,
    fieldSelector: `metadata.name=${NAME}`,
    log,
    onChange: ({ after }) => {
      if (after === undefined) return;
      const before = config?.authorities;
      config = readFrontProxy(after);
      if (config.authorities === before) return;
      for (const listener of listeners) listener();
    },
  });
  return {
    config: () => config,
    current: () => config?.authorities,
    onChange: (listener) => void listeners.add(listener),
    // Never a reason not to be ready: admission is served at the same place, and needs none of this.
    check: () => ({
      ok: true,
      detail: config === undefined ? `nobody is believed yet (${informer.check().detail})` : informer.check().detail,
    }),
    done: informer.run(signal),
  };
};
