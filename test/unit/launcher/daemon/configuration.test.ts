import { expect, test } from '@jest/globals';
import { libvirtdConfiguration, qemuConfiguration } from '../../../../launcher/daemon/configuration.ts';
import { daemonEnvironment, daemonPaths } from '../../../../launcher/daemon/paths.ts';

test('libvirtd listens on its unix socket only, without authentication, as a host of its own', () => {
  const lines = libvirtdConfiguration('6695eb01-f6a4-8304-79aa-97f2502e193f', '/run/sockets').split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'auth_unix_rw = "none"',
      'unix_sock_rw_perms = "0700"',
      'unix_sock_dir = "/run/sockets"',
      'listen_tls = 0',
      'listen_tcp = 0',
      'host_uuid = "6695eb01-f6a4-8304-79aa-97f2502e193f"',
    ]),
  );
});

test('QEMU is left to the Pod to confine', () => {
  const lines = qemuConfiguration().split('\n');
  expect(lines).toEqual(
    expect.arrayContaining(['security_driver = "none"', 'namespaces = []', 'cgroup_controllers = []']),
  );
});

test("the socket's path in the launcher fits into a socket address, and nothing of our environment reaches libvirtd", () => {
  const paths = daemonPaths('/var/run/libvirt', '/var/run/kubevirt/sockets/lv');
  expect(paths.socket.length).toBeLessThan(108);
  expect(Object.keys(daemonEnvironment(paths)).filter((name) => name.startsWith('VIRTFLOW'))).toEqual([]);
});
