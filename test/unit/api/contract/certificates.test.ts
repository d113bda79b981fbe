import { expect, test } from '@jest/globals';
import { nodeOfPeer, nodeUri } from '../../../../api/contract/certificates.ts';

test.each([
  ['a node', `URI:${nodeUri('node-a')}`, 'node-a'],
  ['a node with dots', `URI:${nodeUri('ip-10-0-0-1.example.com')}`, 'ip-10-0-0-1.example.com'],
  ['nothing', undefined, undefined],
  ['an empty name', `URI:${nodeUri('')}`, undefined],
  ['a DNS name', `DNS:${nodeUri('node-a')}`, undefined],
  ['another kind of worker', 'URI:spiffe://virtflow/controller', undefined],
  ['another trust domain', 'URI:spiffe://example/node/node-a', undefined],
  ['a node and something else', `URI:${nodeUri('node-a')}, DNS:node-b`, undefined],
  ['two nodes', `URI:${nodeUri('node-a')}, URI:${nodeUri('node-b')}`, undefined],
  ['something else first', `DNS:node-b, URI:${nodeUri('node-a')}`, undefined],
  ['a path below a node', `URI:${nodeUri('node-a/x')}`, undefined],
  ['a quoted name', `URI:"${nodeUri('node-a')}"`, undefined],
])('whose certificate it is: %s', (_, subjectAltName, node) => {
  expect(nodeOfPeer(subjectAltName)).toBe(node);
});
