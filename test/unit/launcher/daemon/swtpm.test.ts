import { expect, test } from '@jest/globals';
import { swtpmFiles } from '../../../../launcher/daemon/swtpm.ts';

test('the set-up of a TPM stays in the directories that it is given', () => {
  const files = swtpmFiles('/home/x', '/kept/ca');
  expect(Object.keys(files)).toEqual([
    '/home/x/swtpm_setup.conf',
    '/home/x/swtpm-localca.conf',
    '/home/x/swtpm-localca.options',
  ]);
  expect(files['/home/x/swtpm_setup.conf']).toContain('create_certs_tool_config = /home/x/swtpm-localca.conf\n');
  expect(files['/home/x/swtpm-localca.conf']).toContain('statedir = /kept/ca\nsigningkey = /kept/ca/signkey.pem\n');
  expect(Object.values(files).join('')).not.toContain('/var/lib');
});
