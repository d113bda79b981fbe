import type { VirtualMachineInstanceSpec } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, when } from './cause.ts';

type Credential = NonNullable<VirtualMachineInstanceSpec['accessCredentials']>[number];

/** Keys and passwords: one kind each, from one Secret, by one way. */
export const credentialRules: Rule = ({ spec }) => {
  const volumes = spec.volumes ?? [];
  const ways = {
    noCloud: volumes.some(({ cloudInitNoCloud }) => cloudInitNoCloud !== undefined),
    configDrive: volumes.some(({ cloudInitConfigDrive }) => cloudInitConfigDrive !== undefined),
  };
  return (spec.accessCredentials ?? []).flatMap((credential, index) => {
    const field = `spec.accessCredentials[${index}]`;
    const kinds = [credential.sshPublicKey, credential.userPassword].filter((kind) => kind !== undefined);
    return [
      ...sshKey(credential, `${field}.sshPublicKey`, ways),
      ...password(credential, `${field}.userPassword`),
      ...when(kinds.length !== 1, () => invalid(field, 'it is sshPublicKey, or userPassword: set exactly one')),
    ];
  });
};

const sshKey = (
  { sshPublicKey }: Credential,
  field: string,
  ways: { noCloud: boolean; configDrive: boolean },
): Cause[] => {
  if (sshPublicKey === undefined) return [];
  const method = `${field}.propagationMethod`;
  const { noCloud, configDrive, qemuGuestAgent } = sshPublicKey.propagationMethod;
  return [
    ...when(noCloud !== undefined && !ways.noCloud, () =>
      invalid(method, 'noCloud needs a volume cloudInitNoCloud: add it'),
    ),
    ...when(configDrive !== undefined && !ways.configDrive, () =>
      invalid(method, 'configDrive needs a volume cloudInitConfigDrive: add it'),
    ),
    ...when(qemuGuestAgent !== undefined && (qemuGuestAgent.users ?? []).length === 0, () =>
      invalid(`${method}.qemuGuestAgent.users`, 'name the users who get the key'),
    ),
    ...fromSecret(sshPublicKey.source.secret, field),
    ...oneWay([noCloud, configDrive, qemuGuestAgent], method),
  ];
};

const password = ({ userPassword }: Credential, field: string): Cause[] =>
  userPassword === undefined
    ? []
    : [
        ...fromSecret(userPassword.source.secret, field),
        ...oneWay([userPassword.propagationMethod.qemuGuestAgent], `${field}.propagationMethod`),
      ];

const fromSecret = (secret: object | undefined, field: string): Cause[] =>
  when(secret === undefined, () => invalid(`${field}.source`, 'name the Secret in source.secret'));

const oneWay = (ways: unknown[], field: string): Cause[] =>
  when(ways.filter((way) => way !== undefined).length !== 1, () =>
    invalid(field, 'say how it gets to the guest: set exactly one method'),
  );
