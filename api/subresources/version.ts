/** Release of KubeVirt whose API and client virtflow is made for: virtctl compares it with its own. */
const KUBEVIRT_RELEASE = 'v1.8.0';

/** What `virtctl version` shows as the server's; `release` is virtflow's own. */
export const serverVersion = (release: string, platform: string, runtime: string): object => ({
  gitVersion: `${KUBEVIRT_RELEASE}+virtflow.${release}`,
  ...{ gitCommit: '', gitTreeState: '', buildDate: '', compiler: 'node' },
  goVersion: runtime,
  platform,
});
