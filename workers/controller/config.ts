import { hostname } from 'node:os';
import { z } from 'zod';
import type { Durations } from './certificates/rotation.ts';
import { durationsProblem } from './certificates/rotation.ts';

const port = z.coerce.number().int().min(0).max(65535);

const DAY_SECONDS = 86_400;

const environment = z.object({
  /** Namespace of this Pod: the leader's Lease is there. */
  POD_NAMESPACE: z.string().min(1).default('virtflow'),
  /** Name of this Pod: who leads. */
  POD_NAME: z.string().min(1).default(hostname()),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
  /** Image of the launcher Pods. */
  LAUNCHER_IMAGE: z.string().min(1),
  /** Secret in the VMs' namespaces that pulls it. */
  LAUNCHER_IMAGE_PULL_SECRET: z.string().min(1).optional(),
  /** /healthz, /readyz and /metrics. */
  HEALTH_PORT: port.default(8080),
  /** Admission and the aggregated API (HTTPS). */
  HTTPS_PORT: port.default(9443),
  /** Loopback port of the Temporal SDK's own metrics. */
  TEMPORAL_METRICS_PORT: port.default(9464),
  /** Between two looks for objects without workflow and workflows without object. */
  SWEEP_SECONDS: z.coerce.number().positive().default(60),
  /** Bundle of the workflow code that the image carries; without it the sources are bundled at start. */
  VIRTFLOW_WORKFLOW_BUNDLE: z.string().min(1).optional(),
  /** Workflows kept in memory between their tasks: about 1 MiB each. */
  MAX_CACHED_WORKFLOWS: z.coerce.number().int().min(0).default(500),
  /** A certificate authority of virtflow lives this long; the next one is made after two thirds. */
  CERTIFICATE_AUTHORITY_SECONDS: z.coerce
    .number()
    .int()
    .default(365 * DAY_SECONDS),
  /** A node worker's certificate; renewed after two thirds. */
  CERTIFICATE_SECONDS: z.coerce.number().int().min(600).default(DAY_SECONDS),
  /** A new authority is trusted this long before it signs: more than node workers need to read of it. */
  CERTIFICATE_TRUST_DELAY_SECONDS: z.coerce.number().int().min(120).default(DAY_SECONDS),
});

/** Settings of the controller worker. Temporal's own (TEMPORAL_ADDRESS, …) are read by its SDK. */
export interface ControllerConfig {
  podNamespace: string;
  podName: string;
  logLevel: string;
  launcherImage: string;
  imagePullSecret?: string;
  healthPort: number;
  httpsPort: number;
  temporalMetricsPort: number;
  sweepMs: number;
  workflowBundle?: string;
  maxCachedWorkflows: number;
  certificates: Durations;
}

/** @throws Error naming every variable that is missing or wrong */
export const readConfig = (env: NodeJS.ProcessEnv): ControllerConfig => {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Error(`the controller worker's environment is not usable: ${issues.join('; ')}`);
  }
  const { data } = parsed;
  const certificates = {
    authorityMs: data.CERTIFICATE_AUTHORITY_SECONDS * 1000,
    certificateMs: data.CERTIFICATE_SECONDS * 1000,
    trustDelayMs: data.CERTIFICATE_TRUST_DELAY_SECONDS * 1000,
  };
  const unusable = durationsProblem(certificates);
  if (unusable !== undefined) throw new Error(`the controller worker's environment is not usable: ${unusable}`);
  return {
    podNamespace: data.POD_NAMESPACE,
    podName: data.POD_NAME,
    logLevel: data.LOG_LEVEL,
    launcherImage: data.LAUNCHER_IMAGE,
    ...(data.LAUNCHER_IMAGE_PULL_SECRET === undefined ? {} : { imagePullSecret: data.LAUNCHER_IMAGE_PULL_SECRET }),
    healthPort: data.HEALTH_PORT,
    httpsPort: data.HTTPS_PORT,
    temporalMetricsPort: data.TEMPORAL_METRICS_PORT,
    sweepMs: data.SWEEP_SECONDS * 1000,
    ...(data.VIRTFLOW_WORKFLOW_BUNDLE === undefined ? {} : { workflowBundle: data.VIRTFLOW_WORKFLOW_BUNDLE }),
    maxCachedWorkflows: data.MAX_CACHED_WORKFLOWS,
    certificates,
  };
};
