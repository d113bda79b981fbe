/**
 * Configuration files of a private libvirtd, which serves one launcher, unprivileged, over a unix socket only.
 * Pure rendering; who writes and starts it is another matter.
 */

type Setting = string | number | readonly string[];

const renderValue = (value: Setting): string => {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  return `[${value.map((entry) => JSON.stringify(entry)).join(', ')}]`;
};

const render = (settings: Readonly<Record<string, Setting>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = ${renderValue(value)}\n`)
    .join('');

/** A peer that is dead or frozen is given up after 5 × 5 s, between daemons as between QEMU and libvirtd. */
const keepalive = { keepalive_interval: 5, keepalive_count: 5 };

/**
 * libvirtd.conf.
 * @param hostUuid must differ between launchers: libvirt refuses to migrate to a host with its own UUID. Undefined: it is not set
 * @param sockets directory of its sockets
 */
export function libvirtdConfiguration(hostUuid: string | undefined, sockets: string): string {
  return render({
    unix_sock_dir: sockets,
    auth_unix_rw: 'none',
    auth_unix_ro: 'none',
    unix_sock_rw_perms: '0700',
    listen_tls: 0,
    listen_tcp: 0,
    ...(hostUuid === undefined ? {} : { host_uuid: hostUuid }),
    // A running migration or agent command holds a worker and a slot of its client.
    min_workers: 4,
    max_workers: 16,
    max_client_requests: 32,
    admin_min_workers: 1,
    admin_max_workers: 2,
    ...keepalive,
    log_level: 3,
    log_outputs: '3:stderr',
  });
}

/** qemu.conf: nothing that needs privileges, helpers or cgroups; the Pod confines QEMU. */
export function qemuConfiguration(): string {
  return render({
    remember_owner: 0,
    stdio_handler: 'file',
    security_driver: 'none',
    security_default_confined: 0,
    namespaces: [],
    cgroup_controllers: [],
    dynamic_ownership: 0,
    seccomp_sandbox: 0,
    max_core: 0,
    ...keepalive,
  });
}
