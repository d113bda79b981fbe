import { setTimeout as delay } from 'node:timers/promises';
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { isConflict, isNotFound } from '../../../activities/kube/errors.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import type { Rest } from '../../../activities/kube/rest.ts';
import { NODE_SIGNER } from '../../../api/contract/certificates.ts';
import type { CertificateSigningRequest } from '../../../api/kubernetes/types.ts';
import type { Check } from '../../shared/health.ts';
import type { Logger } from '../../shared/logging.ts';
import { Informer } from '../../shared/informer.ts';
import { keepAuthorities } from './authorities.ts';
import type { Outcome } from './requests.ts';
import { isOpen, settle } from './requests.ts';
import type { Authority, Durations } from './rotation.ts';

export interface SignerPorts {
  rest: Rest;
  kube: Pick<KubePort, 'get' | 'replace' | 'mergePatch'>;
  /** Namespace of virtflow. */
  namespace: string;
  durations: Durations;
  register: Registry;
  log: Logger;
  clock?: () => number;
  /** Between two looks at the authorities and at requests that are still open, in ms. A new request is seen at once. */
  passMs?: number;
}

export interface Signer {
  /** Keeps the authorities and answers requests until the signal, as the leader. Never rejects. */
  lead(signal: AbortSignal): Promise<void>;
  /** Always ok: VMs start and stop without certificates. The detail says how it stands. */
  check: () => Check;
}

/** After a failure twice this, and twice that with each further one. */
const RETRY_MS = 500;

/** The certificate authority of virtflow: what signs the certificates of node workers. */
export const certificateSigner = (ports: SignerPorts): Signer => {
  const { rest, kube, namespace, durations, register, log, clock = Date.now, passMs = 30_000 } = ports;
  let signing: Authority | undefined;
  let detail = 'the leader signs';
  let requests: Informer<'CertificateSigningRequest'> | undefined;
  const metrics = signerMetrics(register, () => signing?.expiresAt, clock);
  const account = `system:serviceaccount:${namespace}:virtflow-node`;

  const settleOne = async ({ metadata }: CertificateSigningRequest, signer: Authority): Promise<boolean> => {
    const name = metadata?.name ?? '';
    try {
      const outcome = await settle({ kube, account, clock, certificateMs: durations.certificateMs }, name, signer);
      if (outcome === undefined) return true;
      metrics.outcomes.inc({ outcome: outcome.kind });
      tell(log, name, outcome);
      return true;
    } catch (error) {
      // Somebody else wrote or removed it meanwhile: the next look tells.
      if (!isConflict(error) && !isNotFound(error)) log.warn({ err: error, request: name }, 'request not settled yet');
      return false;
    }
  };

  const pass = async (all: readonly CertificateSigningRequest[]): Promise<boolean> => {
    const { signer } = await keepAuthorities({ kube, namespace, durations, clock, log });
    signing = signer;
    const open = all.filter(isOpen);
    if (signer === undefined) {
      detail = `a new authority waits until every worker trusts it; ${open.length} requests wait for it`;
      return open.length === 0;
    }
    detail = `signing with authority ${signer.id.slice(0, 12)}, valid until ${new Date(signer.expiresAt).toISOString()}`;
    const settled: boolean[] = [];
    for (const request of open) settled.push(await settleOne(request, signer));
    return settled.every(Boolean);
  };

  return {
    check: () => {
      const watch = requests?.check();
      return { ok: true, detail: watch === undefined || watch.ok ? detail : `${detail}; requests: ${watch.detail}` };
    },
    async lead(signal) {
      let bell = new AbortController();
      const informer = new Informer({
        rest,
        kind: 'CertificateSigningRequest',
        fieldSelector: `spec.signerName=${NODE_SIGNER}`,
        log,
        onChange: () => bell.abort(),
      });
      requests = informer;
      const watching = informer.run(signal);
      for (let failures = 0; !signal.aborted;) {
        bell = new AbortController();
        const isDone = await pass(informer.list()).catch((error: unknown) => {
          if (!signal.aborted) log.warn({ err: error }, 'certificate authority interrupted; trying again');
          detail = `no certificates are signed: ${error instanceof Error ? error.message : String(error)}`;
          return false;
        });
        failures = isDone ? 0 : failures + 1;
        const wait = isDone ? passMs : Math.min(passMs, RETRY_MS * 2 ** failures);
        await delay(wait, undefined, { signal: AbortSignal.any([signal, bell.signal]) }).catch(() => undefined);
      }
      await watching;
      // Unless it leads again already.
      if (requests !== informer) return;
      signing = requests = undefined;
      detail = 'the leader signs';
    },
  };
};

const tell = (log: Logger, request: string, outcome: Outcome): void => {
  if (outcome.kind === 'signed') log.info({ request, certificateOf: outcome.node }, 'certificate signed');
  else
    log.warn(
      { request, reason: outcome.refusal.reason },
      `request for a certificate refused: ${outcome.refusal.message}`,
    );
};

const signerMetrics = (register: Registry, expiresAt: () => number | undefined, clock: () => number) => {
  new Gauge({
    name: 'virtflow_certificate_authority_expiry_seconds',
    help: 'Seconds until the authority that signs expires; NaN where none signs',
    registers: [register],
    collect() {
      this.set(((expiresAt() ?? NaN) - clock()) / 1000);
    },
  });
  return {
    outcomes: new Counter({
      name: 'virtflow_certificate_requests_total',
      help: 'Requests for certificates of node workers that were answered',
      labelNames: ['outcome'],
      registers: [register],
    }),
  };
};
