/**
 * Reading of /proc/<pid>/cgroup. The text names the Pod by uid and the container by id, in one of two styles, under cgroup v1 (a line per
 * controller) and v2 (one line):
 *   cgroupfs  …/kubepods/burstable/pod<uid>/<container id>
 *   systemd   …/kubepods-burstable-pod<uid with underscores>.slice/cri-containerd-<container id>.scope
 *             …/kubepods-burstable-pod<uid with underscores>.slice:cri-containerd:<container id>
 * Runtimes and libvirt may nest further groups below.
 */
const paths = (cgroup: string): string[] =>
  cgroup
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(':').slice(2).join(':'));

const segments = (cgroup: string): string[] => paths(cgroup).flatMap((path) => path.split(/[/:]/));

/** True if the process runs in a container, or in the sandbox, of the Pod. */
export const isInPod = (cgroup: string, podUid: string): boolean => {
  const names = [`pod${podUid}`, `pod${podUid.replaceAll('-', '_')}`];
  return segments(cgroup).some((segment) => {
    const name = segment.replace(/\.slice$/, '');
    return names.some((pod) => name === pod || name.endsWith(`-${pod}`));
  });
};

/** True if the process runs in a container, or in the sandbox, of some Pod. */
export const isInAnyPod = (cgroup: string): boolean =>
  segments(cgroup).some((segment) => /^(?:.*-)?pod[0-9a-f]{8}[-_]/.test(segment));

/** True if the process runs in the container, given its id without the runtime's scheme. */
export const isInContainer = (cgroup: string, containerId: string): boolean =>
  segments(cgroup).some((segment) => {
    const name = segment.replace(/\.scope$/, '');
    return name === containerId || name.endsWith(`-${containerId}`);
  });

/** `containerd://<id>` → `<id>`; undefined when the runtime has not given one yet. */
export const bareContainerId = (containerID: string | undefined): string | undefined =>
  containerID?.split('://')[1] || undefined;
