import { expect, test } from '@jest/globals';
import { credentialRules } from '../../../../api/validation/credentials.ts';
import { told } from './told.ts';

const FIELD = 'Invalid spec.accessCredentials[0]';
const source = { secret: { secretName: 's' } };
const key = (propagationMethod: object, from: object = source): object => ({
  sshPublicKey: { source: from, propagationMethod },
});
const password = (propagationMethod: object, from: object = source): object => ({
  userPassword: { source: from, propagationMethod },
});
const agent = { qemuGuestAgent: { users: ['root'] } };

test.each<[string, object, string[]]>([
  ['a key by the agent', key(agent), []],
  ['a key by cloud-init', key({ noCloud: {} }), []],
  ['a key by a drive that is not there', key({ configDrive: {} }), [`${FIELD}.sshPublicKey.propagationMethod`]],
  [
    'a key for nobody',
    key({ qemuGuestAgent: { users: [] } }),
    [`${FIELD}.sshPublicKey.propagationMethod.qemuGuestAgent.users`],
  ],
  ['a key from nowhere', key(agent, {}), [`${FIELD}.sshPublicKey.source`]],
  ['a key by no way', key({}), [`${FIELD}.sshPublicKey.propagationMethod`]],
  ['a key by two ways', key({ ...agent, noCloud: {} }), [`${FIELD}.sshPublicKey.propagationMethod`]],
  ['a password', password({ qemuGuestAgent: {} }), []],
  [
    'a password from nowhere, by no way',
    password({}, {}),
    [`${FIELD}.userPassword.source`, `${FIELD}.userPassword.propagationMethod`],
  ],
  ['nothing', {}, [FIELD]],
  ['both', { ...key(agent), ...password({ qemuGuestAgent: {} }) }, [FIELD]],
])('%s', (_, credential, expected) => {
  const volumes = [{ name: 'seed', cloudInitNoCloud: { userData: 'x' } }];
  expect(told(credentialRules, { accessCredentials: [credential], volumes })).toEqual(expected);
});
