import { secretDirectory } from '../../../api/launcher/paths.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { readOnly } from './mounted.ts';
import type { Mounted } from './mounted.ts';

/** Secrets with keys and passwords that are put into the guest. */
export const accessCredentials = ({ spec }: VirtualMachineInstance): Mounted[] =>
  (spec.accessCredentials ?? []).flatMap(({ sshPublicKey, userPassword }) => {
    const secretName = sshPublicKey?.source.secret?.secretName ?? userPassword?.source.secret?.secretName;
    if (!secretName) return [];
    const name = `${secretName}-access-cred`;
    return [{ volume: { name, secret: { secretName } }, mount: readOnly(name, secretDirectory(name)) }];
  });
