import type {
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
  VirtualMachineSpec,
} from '../../../api/kubevirt/types.ts';
import { sameJson } from '../merge-patch.ts';

/** Where a guest may run: a running VMI takes a change of these, for its next migration (KubeVirt, rollout strategy LiveUpdate). */
export const PLACEMENT = ['nodeSelector', 'affinity', 'tolerations'] as const;

/**
 * Fields of the template's spec that differ from those that the VMI was started with and that it cannot take while it runs, as paths; empty: no
 * restart is needed. Plugging of CPUs, memory, volumes and interfaces is not there yet: a change of those is one of these.
 * @param started the VM's spec when the VMI was created
 * @param takesPlacement the VMI takes a change of where it may run
 */
export const fieldsForRestart = (
  started: VirtualMachineSpec,
  current: VirtualMachineSpec,
  vmi: VirtualMachineInstance,
  takesPlacement: boolean,
): string[] => {
  const before = comparable(started.template.spec, vmi, takesPlacement);
  const now = comparable(current.template.spec, vmi, takesPlacement);
  return differences(before, now, 'spec.template.spec');
};

type Json = Record<string, unknown>;

const comparable = (
  spec: VirtualMachineInstanceSpec | undefined,
  vmi: VirtualMachineInstance,
  takesPlacement: boolean,
): Json => {
  const copy: VirtualMachineInstanceSpec = structuredClone(spec) ?? { domain: { devices: {} } };
  if (takesPlacement) for (const field of PLACEMENT) delete copy[field];
  // Written into the template after the start: the guest has it already.
  const { firmware } = copy.domain;
  if (firmware?.uuid !== undefined && firmware.uuid === vmi.spec.domain.firmware?.uuid) delete firmware.uuid;
  return withoutEmpty(copy) as Json;
};

/** An empty structure says as little as an absent one. */
const withoutEmpty = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .map(([key, inner]) => [key, withoutEmpty(inner)] as const)
    .filter(([, inner]) => !isEmpty(inner));
  return Object.fromEntries(entries);
};

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** Paths down to the third level: "spec.template.spec.domain.devices.disks". */
const differences = (before: Json, now: Json, path: string, depth = 3): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((key) => {
    const [a, b] = [before[key], now[key]];
    if (sameJson(a, b)) return [];
    return isObject(a) && isObject(b) && depth > 1
      ? differences(a, b, `${path}.${key}`, depth - 1)
      : [`${path}.${key}`];
  });

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
