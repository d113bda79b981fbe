import type { ClusterConfig } from '../cluster-config/index.ts';
import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { forbidden, invalid, needsGate, when } from './cause.ts';

const FIELD = 'spec.launchSecurity';
const GATES = { sev: 'WorkloadEncryptionSEV', snp: 'WorkloadEncryptionSEV', tdx: 'WorkloadEncryptionTDX' } as const;
type Technique = keyof typeof GATES;

/** Encrypted guests: one technique, where there is one, with what it needs. */
export const launchSecurityRules: Rule = ({ spec }, config) => {
  const { launchSecurity } = spec.domain;
  if (launchSecurity === undefined || spec.architecture === 's390x') return [];
  if (spec.architecture !== 'amd64')
    return [invalid('spec.architecture', `${spec.architecture} has no launchSecurity: drop it`)];
  const [technique, ...others] = (['sev', 'snp', 'tdx'] as const).filter((key) => launchSecurity[key] !== undefined);
  if (technique === undefined || others.length > 0)
    return [forbidden(FIELD, 'it is one of sev, snp and tdx: set exactly one')];
  return gateThenNeeds(technique, spec, config);
};

const gateThenNeeds = (technique: Technique, spec: VirtualMachineInstanceSpec, config: ClusterConfig): Cause[] => {
  const closed = needsGate(FIELD, GATES[technique], config);
  return closed.length > 0 ? closed : needs(technique, spec);
};

const needs = (technique: Technique, spec: VirtualMachineInstanceSpec): Cause[] => {
  const { devices, features, firmware, launchSecurity } = spec.domain;
  const efi = firmware?.bootloader?.efi;
  const refuse = (condition: boolean, message: string): Cause[] =>
    when(condition, () => invalid(FIELD, `${technique} ${message}`));
  return [
    ...refuse(
      technique === 'tdx' && features?.smm !== undefined && features.smm.enabled !== false,
      'excludes spec.domain.features.smm: drop it',
    ),
    ...refuse(efi === undefined, 'boots by EFI: set spec.domain.firmware.bootloader.efi'),
    ...refuse(
      technique !== 'tdx' && efi !== undefined && efi.secureBoot !== false,
      'excludes Secure Boot: set efi.secureBoot to false',
    ),
    ...refuse(technique !== 'sev' && efi?.persistent === true, 'excludes persistent EFI variables'),
    ...refuse(
      launchSecurity?.sev?.attestation !== undefined && spec.startStrategy !== 'Paused',
      'attests a guest that starts paused: set spec.startStrategy to Paused',
    ),
    ...refuse(
      (devices.interfaces ?? []).some(({ bootOrder }) => bootOrder !== undefined),
      'excludes booting from a network: drop bootOrder of the interfaces',
    ),
  ];
};
