import { join } from 'node:path';

/**
 * Files by which swtpm's set-up, which libvirt calls for a new TPM, keeps to the launcher's own directories: by itself it signs the TPM's certificates with
 * an authority below /var/lib, which belongs to root.
 * @param home XDG_CONFIG_HOME of libvirtd
 * @param state where the authority lies
 */
export const swtpmFiles = (home: string, state: string): Record<string, string> => {
  const [authority, options] = ['swtpm-localca.conf', 'swtpm-localca.options'].map((name) => join(home, name));
  return {
    [join(home, 'swtpm_setup.conf')]: settings({
      create_certs_tool: '/usr/bin/swtpm_localca',
      create_certs_tool_config: authority,
      create_certs_tool_options: options,
      active_pcr_banks: 'sha256',
    }),
    [`${authority}`]: settings({
      statedir: state,
      signingkey: join(state, 'signkey.pem'),
      issuercert: join(state, 'issuercert.pem'),
      certserial: join(state, 'certserial'),
    }),
    [`${options}`]: '--platform-manufacturer KubeVirt\n--platform-version 2.1\n--platform-model QEMU\n',
  };
};

const settings = (values: Record<string, string | undefined>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('');
