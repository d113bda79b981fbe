import { expect, test } from '@jest/globals';
import { nameRules } from '../../../../api/validation/names.ts';
import { told } from './told.ts';

const account = (serviceAccountName: string): object => ({ name: 'sa', serviceAccount: { serviceAccountName } });

test.each<[string, object, string[]]>([
  [
    'sound ones',
    { hostname: 'web-1', subdomain: 'shop.test', serviceAccountName: 'ops', volumes: [account('ops')] },
    [],
  ],
  ['a host name with dots', { hostname: 'web.shop' }, ['Invalid spec.hostname']],
  ['a malformed domain', { subdomain: 'shop_test' }, ['Invalid spec.subdomain']],
  ['a malformed account', { serviceAccountName: 'Ops' }, ['Invalid spec.serviceAccountName']],
  ['two accounts', { serviceAccountName: 'ops', volumes: [account('dev')] }, ['Invalid spec.serviceAccountName']],
  ['the volume’s account alone', { volumes: [account('dev')] }, []],
])('%s', (_, spec, expected) => {
  expect(told(nameRules, spec)).toEqual(expected);
});
