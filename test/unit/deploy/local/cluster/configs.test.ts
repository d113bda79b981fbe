import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { apiServerUrl, dnsServiceAddress, hostAddress, nodes } from '../../../../../deploy/local/cluster/addresses.ts';
import { dnsRules, kubeletConfig } from '../../../../../deploy/local/cluster/configs.ts';
import { certificates, extensions } from '../../../../../deploy/local/cluster/pki.ts';

test('names outside the cluster are forwarded only where the machine has a name server', () => {
  expect(dnsRules('/k', 'search example.org\nnameserver 192.0.2.53\n')).toContain('forward . /etc/resolv.conf');
  expect(dnsRules('/k', '# nameserver 192.0.2.53\n')).not.toContain('forward');
});

test('the DNS Service has the address that kubelets give to Pods, and leads to the control plane', () => {
  const manifests = readFileSync('deploy/local/cluster/dns.yaml', 'utf8');
  const [service, slice] = parseAllDocuments(manifests).map((document) => document.toJS() as unknown);
  expect(service).toMatchObject({ spec: { clusterIP: dnsServiceAddress } });
  expect(slice).toMatchObject({ endpoints: [{ addresses: [hostAddress] }] });
  for (const node of nodes) expect(parse(kubeletConfig(node))).toMatchObject({ clusterDNS: [dnsServiceAddress] });
});

test('the API server is served under its address for nodes and under its Service for Pods', () => {
  const names = certificates.find(({ name }) => name === 'apiserver')?.names;
  expect(names).toContain(`IP:${new URL(apiServerUrl).hostname}`);
  expect(names).toEqual(expect.arrayContaining(['IP:10.96.0.1', 'DNS:kubernetes.default.svc']));
});

test('a certificate is nobody for the authority of another purpose: the front proxy and etcd have their own', () => {
  const of = (authority: string) => certificates.filter((one) => one.authority === authority).map(({ name }) => name);
  expect(of('front-proxy-ca')).toEqual(['front-proxy']);
  expect(of('etcd-ca')).toEqual(['apiserver-etcd', 'etcd']);
});

test('every certificate is an end entity; names appear only where it serves', () => {
  for (const certificate of certificates) {
    expect(extensions(certificate)).toContain('CA:FALSE');
    expect(extensions(certificate).includes('subjectAltName')).toBe(certificate.names !== undefined);
  }
});

test('nodes have addresses, Pod ranges and cgroups of their own', () => {
  const distinct = (of: (node: (typeof nodes)[number]) => string) => new Set(nodes.map(of)).size;
  expect(distinct(({ address }) => address)).toBe(nodes.length);
  expect(distinct(({ podRange }) => podRange)).toBe(nodes.length);
  expect(distinct((node) => (parse(kubeletConfig(node)) as { cgroupRoot: string }).cgroupRoot)).toBe(nodes.length);
});
