/** Release of virtflow itself. */
export const RELEASE = '0.1.0';

/** Release of KubeVirt whose API and client virtflow is made for: virtctl compares it with its own. */
const KUBEVIRT_RELEASE = 'v1.8.0';

/** What virtflow serves, in KubeVirt's status and for its clients. */
export const SERVED_VERSION = `${KUBEVIRT_RELEASE}+virtflow.${RELEASE}`;

/** What `virtctl version` shows as the server's. */
export const serverVersion = (platform: string, runtime: string): object => ({
  gitVersion: SERVED_VERSION,
  ...{ gitCommit: '', gitTreeState: '', buildDate: '', compiler: 'node' },
  goVersion: runtime,
  platform,
});
