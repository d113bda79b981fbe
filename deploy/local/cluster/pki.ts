import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../cache.ts';
import type { Context } from '../context.ts';
import { run } from '../shell.ts';
import { apiServiceAddress, hostAddress, nodes } from './addresses.ts';

/** Three authorities, as kubeadm has them: a client of one is nobody to another. */
const authorities = ['ca', 'front-proxy-ca', 'etcd-ca'] as const;
type Authority = (typeof authorities)[number];

/** A certificate of the cluster, for serving and as a client. */
export interface Certificate {
  readonly name: string;
  readonly authority: Authority;
  /** OpenSSL's form: user is CN, groups are O. */
  readonly subject: string;
  readonly names?: readonly string[];
}

const apiServerNames = [
  'DNS:kubernetes',
  'DNS:kubernetes.default',
  'DNS:kubernetes.default.svc',
  'DNS:kubernetes.default.svc.cluster.local',
  `IP:${apiServiceAddress}`,
  `IP:${hostAddress}`,
];

export const certificates: readonly Certificate[] = [
  { name: 'apiserver', authority: 'ca', subject: '/CN=kube-apiserver', names: apiServerNames },
  { name: 'apiserver-kubelet', authority: 'ca', subject: '/O=system:masters/CN=apiserver-kubelet' },
  { name: 'apiserver-etcd', authority: 'etcd-ca', subject: '/CN=apiserver-etcd' },
  { name: 'front-proxy', authority: 'front-proxy-ca', subject: '/CN=front-proxy-client' },
  { name: 'etcd', authority: 'etcd-ca', subject: '/CN=etcd', names: [`IP:${hostAddress}`] },
  { name: 'admin', authority: 'ca', subject: '/O=system:masters/CN=admin' },
  { name: 'controller-manager', authority: 'ca', subject: '/CN=system:kube-controller-manager' },
  { name: 'scheduler', authority: 'ca', subject: '/CN=system:kube-scheduler' },
  { name: 'kube-proxy', authority: 'ca', subject: '/CN=system:kube-proxy' },
  { name: 'coredns', authority: 'ca', subject: '/CN=system:coredns' },
  ...nodes.map(({ name, address }): Certificate => ({
    name,
    authority: 'ca',
    subject: `/O=system:nodes/CN=system:node:${name}`,
    names: [`DNS:${name}`, `IP:${address}`],
  })),
];

const pkiDir = (ctx: Context): string => join(ctx.stateDir, 'pki');
export const certFile = (ctx: Context, name: string): string => join(pkiDir(ctx), `${name}.crt`);
export const keyFile = (ctx: Context, name: string): string => join(pkiDir(ctx), `${name}.key`);

/** OpenSSL's extensions of a certificate. */
export const extensions = (certificate: Certificate): string =>
  [
    'basicConstraints=critical,CA:FALSE',
    'keyUsage=critical,digitalSignature',
    'extendedKeyUsage=serverAuth,clientAuth',
    ...(certificate.names ? [`subjectAltName=${certificate.names.join(',')}`] : []),
  ].join('\n');

const days = '3650';
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Makes what is missing of the cluster's keys and certificates; what is there stays. */
export async function ensurePki(ctx: Context): Promise<void> {
  await mkdir(pkiDir(ctx), { recursive: true, mode: 0o700 });
  for (const authority of authorities) await ensureAuthority(ctx, authority);
  for (const certificate of certificates) await ensureCertificate(ctx, certificate);
  if (await exists(keyFile(ctx, 'service-account'))) return;
  await run(['openssl', 'genrsa', '-out', `${keyFile(ctx, 'service-account')}.new`, '2048']);
  await rename(`${keyFile(ctx, 'service-account')}.new`, keyFile(ctx, 'service-account'));
}

async function ensureAuthority(ctx: Context, name: Authority): Promise<void> {
  if (await exists(certFile(ctx, name))) return;
  const out = ['-keyout', keyFile(ctx, name), '-out', `${certFile(ctx, name)}.new`];
  await run(['openssl', 'req', '-x509', ...newKey, ...out, '-days', days, '-subj', `/CN=virtflow-local-${name}`]);
  await rename(`${certFile(ctx, name)}.new`, certFile(ctx, name));
}

/** The certificate takes its name last: while it is missing, everything about it is made again. */
async function ensureCertificate(ctx: Context, certificate: Certificate): Promise<void> {
  const { name, authority, subject } = certificate;
  const crt = certFile(ctx, name);
  if (await exists(crt)) return;
  const [request, extensionFile] = [`${crt}.request`, `${crt}.extensions`];
  await writeFile(extensionFile, extensions(certificate));
  await run(['openssl', 'req', '-new', ...newKey, '-keyout', keyFile(ctx, name), '-out', request, '-subj', subject]);
  const signer = ['-CA', certFile(ctx, authority), '-CAkey', keyFile(ctx, authority), '-CAcreateserial'];
  const out = ['-days', days, '-extfile', extensionFile, '-out', `${crt}.new`];
  await run(['openssl', 'x509', '-req', '-in', request, ...signer, ...out]);
  await rename(`${crt}.new`, crt);
}
