/** Release of virtflow itself. */
export const RELEASE = '0.1.0';

/** Release of KubeVirt whose API and client virtflow is made for: virtctl compares it with its own. */
const KUBEVIRT_RELEASE = 'v1.8.0';

/** What `virtctl version` shows as the server's. */
export const serverVersion = (platform: string, runtime: string): object => ({
  gitVersion: `${KUBEVIRT_RELEASE}+virtflow.${RELEASE}`,
  ...{ gitCommit: '', gitTreeState: '', buildDate: '', compiler: 'node' },
  goVersion: runtime,
  platform,
});
