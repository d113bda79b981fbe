import { z } from 'zod';

const directory = z.string().startsWith('/');
const port = z.coerce.number().int().min(0).max(65535);

const environment = z.object({
  /** Name of this worker's Node: from the downward API. */
  NODE_NAME: z.string().min(1),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
  /** /healthz, /readyz and /metrics. */
  HEALTH_PORT: port.default(8080),
  /** Loopback port of the Temporal SDK's own metrics. */
  TEMPORAL_METRICS_PORT: port.default(9464),
  /** The kubelet's pods directory, mounted at a short path with Bidirectional propagation. */
  PODS_DIRECTORY: directory.default('/pods'),
  DEVICE_PLUGIN_DIRECTORY: directory.default('/var/lib/kubelet/device-plugins'),
  /** Copies of image files; on the host, so that they outlive this Pod. */
  IMAGE_CACHE_DIRECTORY: directory.default('/var/lib/virtflow/container-disks'),
  /** Any empty place in this container. */
  IMAGE_VIEW_DIRECTORY: directory.default('/run/virtflow/container-disks'),
  /** The node's own address, on which other nodes' workers reach this one: from the downward API. */
  MIGRATION_ADDRESS: z.union([z.ipv4(), z.ipv6()]),
  MIGRATION_PORT: port.default(9810),
  /** On the host: the ways of migrations outlive this Pod. */
  MIGRATION_DIRECTORY: directory.default('/var/lib/virtflow/migrations'),
  /** This worker's certificate and key; on the host, so that a restarted worker has them at once. */
  CERTIFICATE_DIRECTORY: directory.default('/var/lib/virtflow/certificates'),
  /** What the probe in the launcher's image has found out about this node. */
  CAPABILITIES_DIRECTORY: directory.default('/var/lib/virtflow/capabilities'),
  /** The kubelet's record of its CPU manager; its directory is mounted, for the kubelet replaces the file. */
  CPU_MANAGER_STATE: directory.default('/host/kubelet/cpu_manager_state'),
  /** Namespace of virtflow: the certificates of trusted authorities are there. */
  POD_NAMESPACE: z.string().min(1).default('virtflow'),
  /** Below it, the host's /dev. */
  HOST_ROOT: directory.default('/host'),
});

/** Settings of the node worker. Temporal's own (TEMPORAL_ADDRESS, …) are read by its SDK. */
export interface NodeConfig {
  node: string;
  logLevel: string;
  healthPort: number;
  temporalMetricsPort: number;
  pods: string;
  devicePlugins: string;
  imageCache: string;
  imageView: string;
  certificates: string;
  capabilities: string;
  cpuManagerState: string;
  namespace: string;
  hostRoot: string;
  migration: { address: string; port: number; directory: string };
}

/** @throws Error naming every variable that is missing or wrong */
export const readConfig = (env: NodeJS.ProcessEnv): NodeConfig => {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Error(`the node worker's environment is not usable: ${issues.join('; ')}`);
  }
  const { data } = parsed;
  return {
    node: data.NODE_NAME,
    logLevel: data.LOG_LEVEL,
    healthPort: data.HEALTH_PORT,
    temporalMetricsPort: data.TEMPORAL_METRICS_PORT,
    pods: data.PODS_DIRECTORY,
    devicePlugins: data.DEVICE_PLUGIN_DIRECTORY,
    imageCache: data.IMAGE_CACHE_DIRECTORY,
    imageView: data.IMAGE_VIEW_DIRECTORY,
    certificates: data.CERTIFICATE_DIRECTORY,
    capabilities: data.CAPABILITIES_DIRECTORY,
    cpuManagerState: data.CPU_MANAGER_STATE,
    namespace: data.POD_NAMESPACE,
    hostRoot: data.HOST_ROOT,
    migration: { address: data.MIGRATION_ADDRESS, port: data.MIGRATION_PORT, directory: data.MIGRATION_DIRECTORY },
  };
};
