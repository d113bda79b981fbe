import { join } from 'node:path';
import { stringify } from 'yaml';
import { clusterDomain, dnsServiceAddress, hostAddress, podNetwork } from './addresses.ts';
import type { NodeSpec } from './addresses.ts';

/** One line per request, without bodies: enough to count writes and to see who did what. */
export const auditPolicy = (): string =>
  stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata' }],
  });

/** Rules of the cluster's DNS server. Names outside the cluster go to the machine's own server, where it has one. */
export const dnsRules = (kubeconfig: string, machineResolvConf: string): string => `.:53 {
  bind ${hostAddress}
  errors
  ready ${hostAddress}:8181
  kubernetes ${clusterDomain} in-addr.arpa ip6.arpa {
    kubeconfig ${kubeconfig}
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
    ttl 5
  }
${/^nameserver /m.test(machineResolvConf) ? '  forward . /etc/resolv.conf\n' : ''}  cache 5
}
`;

/** Paths on a node, the same on every node: each has its own /etc, /run and /var. */
export const onNode = {
  containerdConfig: '/etc/containerd/config.toml',
  cniConfig: '/etc/cni/net.d/10-virtflow.conflist',
  kubeletConfig: '/var/lib/kubelet/config.yaml',
  kubeletKubeconfig: '/var/lib/kubelet/kubeconfig',
  kubeletCert: '/var/lib/kubelet/pki/kubelet.crt',
  kubeletKey: '/var/lib/kubelet/pki/kubelet.key',
  clusterCa: '/var/lib/kubelet/pki/ca.crt',
  resolvConf: '/var/lib/kubelet/resolv.conf',
  proxyConfig: '/var/lib/kube-proxy/config.yaml',
  proxyKubeconfig: '/var/lib/kube-proxy/kubeconfig',
  containerdSocket: '/run/containerd/containerd.sock',
  /** The binaries of the cache, wherever that is. */
  bin: '/opt/virtflow/bin',
} as const;

export const pauseImage = 'localhost/virtflow-pause:1';

/** restrict_oom_score_adj: without CAP_SYS_RESOURCE runc cannot lower a score, and no sandbox would start. */
export const containerdConfig = (): string => `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "${pauseImage}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
`;

export const cniConfig = ({ podRange }: NodeSpec): string => {
  const ipam = { type: 'host-local', ranges: [[{ subnet: podRange }]], routes: [{ dst: '0.0.0.0/0' }] };
  const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: false, hairpinMode: true, ipam };
  const portmap = { type: 'portmap', capabilities: { portMappings: true } };
  return `${JSON.stringify({ cniVersion: '1.0.0', name: 'virtflow-local', plugins: [bridge, portmap] }, null, 2)}\n`;
};

/** The cgroup that a node's Pods are put under. */
export const nodeCgroup = ({ name }: NodeSpec): string => name;

export const kubeletConfig = (node: NodeSpec): string =>
  stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      x509: { clientCAFile: onNode.clusterCa },
      anonymous: { enabled: false },
      webhook: { enabled: true },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: onNode.kubeletCert,
    tlsPrivateKeyFile: onNode.kubeletKey,
    address: node.address,
    healthzBindAddress: node.address,
    containerRuntimeEndpoint: `unix://${onNode.containerdSocket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: join('/virtflow', nodeCgroup(node)),
    cgroupsPerQOS: true,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    clusterDomain,
    clusterDNS: [dnsServiceAddress],
    resolvConf: onNode.resolvConf,
    podCIDR: node.podRange,
    maxPods: 500,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100, // local images cannot be pulled again
    crashLoopBackOff: { maxContainerRestartPeriod: '2s' }, // tests kill containers many times
  });

/** Conntrack limits belong to the machine, not to a network namespace: 0 leaves them alone. */
export const proxyConfig = (node: NodeSpec): string =>
  stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: onNode.proxyKubeconfig },
    hostnameOverride: node.name,
    clusterCIDR: podNetwork,
    detectLocalMode: 'ClusterCIDR',
    healthzBindAddress: `${node.address}:10256`,
    metricsBindAddress: `${node.address}:10249`,
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  });
