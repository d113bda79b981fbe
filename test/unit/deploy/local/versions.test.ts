import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { versions } from '../../../../deploy/local/versions.ts';

const goMod = readFileSync('deploy/local/go/go.mod', 'utf8');

test.each([
  ['k8s.io/kubernetes', versions.KUBERNETES_VERSION],
  ['go.etcd.io/etcd/server/v3', versions.ETCD_VERSION],
  ['github.com/coredns/coredns', versions.COREDNS_VERSION],
])('go.mod builds %s in the version that versions.env pins', (module, version) => {
  expect(goMod).toContain(`${module} v${version}\n`);
});

test("Kubernetes' own modules are replaced by those of the same release", () => {
  const minorAndPatch = versions.KUBERNETES_VERSION.replace(/^1\./, '');
  const replaced = [...goMod.matchAll(/^\t(k8s\.io\/\S+) => \S+ (v\S+)$/gm)];
  expect(replaced.length).toBeGreaterThan(20);
  expect(new Set(replaced.map(([, , version]) => version))).toEqual(new Set([`v0.${minorAndPatch}`]));
});
