import type { Container } from '../../../api/kubernetes/types.ts';
import type { Probe, VirtualMachineInstance } from '../../../api/kubevirt/types.ts';

type PodProbe = NonNullable<Container['readinessProbe']>;

/** Seconds that libvirt takes to come up, before a guest can answer at all. */
const STARTUP_DELAY = 10;
/** Second that a command in the guest takes longer, on its way through the guest agent. */
const AGENT_DELAY = 1;

/** The user's probes on `compute`; commands and pings are carried into the guest. */
export const computeProbes = (vmi: VirtualMachineInstance): Pick<Container, 'readinessProbe' | 'livenessProbe'> => {
  const { readinessProbe, livenessProbe } = vmi.spec;
  return {
    ...(readinessProbe ? { readinessProbe: podProbe(readinessProbe, vmi) } : {}),
    ...(livenessProbe ? { livenessProbe: podProbe(livenessProbe, vmi) } : {}),
  };
};

const podProbe = (probe: Probe, vmi: VirtualMachineInstance): PodProbe => {
  const timeout = atLeastOne(probe.timeoutSeconds, 1);
  const command = guestCommand(probe, vmi, timeout);
  return {
    initialDelaySeconds: (probe.initialDelaySeconds ?? 0) + STARTUP_DELAY,
    timeoutSeconds: timeout + (command === undefined || isWrapped(probe) ? 0 : AGENT_DELAY),
    periodSeconds: atLeastOne(probe.periodSeconds, 10),
    successThreshold: atLeastOne(probe.successThreshold, 1),
    failureThreshold: atLeastOne(probe.failureThreshold, 3),
    ...(command === undefined ? {} : { exec: { command } }),
    ...networkHandlers(probe),
  };
};

/** The generated types of the two APIs disagree on ports (a number or a name): the user's handlers are taken as they are. */
const networkHandlers = ({ httpGet, tcpSocket }: Probe): Pick<PodProbe, 'httpGet' | 'tcpSocket'> =>
  ({ ...(httpGet ? { httpGet } : {}), ...(tcpSocket ? { tcpSocket } : {}) }) as Pick<PodProbe, 'httpGet' | 'tcpSocket'>;

const atLeastOne = (seconds: number | undefined, fallback: number): number =>
  seconds === undefined || seconds < 1 ? fallback : seconds;

const isWrapped = (probe: Probe): boolean => probe.guestAgentPing === undefined && probe.exec?.command?.[0] === PROGRAM;

const PROGRAM = 'virt-probe';

const guestCommand = (probe: Probe, vmi: VirtualMachineInstance, timeout: number): string[] | undefined => {
  const domain = `${vmi.metadata?.namespace}_${vmi.metadata?.name}`;
  const wrap = [PROGRAM, '--domainName', domain, '--timeoutSeconds', String(timeout)];
  if (probe.guestAgentPing !== undefined) return [...wrap, '--guestAgentPing'];
  if (probe.exec === undefined) return undefined;
  const [program, ...rest] = probe.exec.command ?? [];
  return program === undefined || isWrapped(probe)
    ? (probe.exec.command ?? [])
    : [...wrap, '--command', program, '--', ...rest];
};
