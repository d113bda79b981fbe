import { expect, test } from '@jest/globals';
import { peerTrouble } from '../../../../../activities/node/migration-proxy/words.ts';

const coded = (code: string): Error => Object.assign(new Error('words of OpenSSL'), { code });

test.each([
  ['ECONNREFUSED', /nobody listens/],
  ['CERT_HAS_EXPIRED', /has expired.*clock/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /of another CA/],
  ['SELF_SIGNED_CERT_IN_CHAIN', /of another CA/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /does not speak TLS/],
])('%s is said in words, and the code with them', (code, words) => {
  expect(peerTrouble(coded(code))).toMatch(words);
  expect(peerTrouble(coded(code))).toContain(code);
});

test('whatever has no words keeps its own', () => {
  expect(peerTrouble(coded('EWHATEVER'))).toBe('words of OpenSSL (EWHATEVER)');
  expect(peerTrouble(new Error('plain'))).toBe('plain');
});
