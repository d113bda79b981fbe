import { expect, test } from '@jest/globals';
import { configured, withDomain } from '../../../../support/instances.ts';
import { render, specOf } from './render.ts';

const sharing = (filesystems: string[]) =>
  withDomain(
    { devices: { filesystems: filesystems.map((name) => ({ name, virtiofs: {} })) } },
    {
      volumes: [
        { name: 'home', persistentVolumeClaim: { claimName: 'home' } },
        { name: 'settings', configMap: { name: 'settings' } },
      ],
    },
  );

test('each shared directory has a container of its own, which sees nothing else', () => {
  const containers = specOf(render(sharing(['home', 'settings']))).containers.filter(({ name }) =>
    /virtiofs/.test(name),
  );
  expect(containers.map(({ name, volumeMounts }) => [name, volumeMounts?.map((mount) => mount.name)])).toEqual([
    ['virtiofs-home', ['virtiofs-containers', 'home']],
    ['virtiofs-settings', ['virtiofs-containers', 'settings']],
  ]);
  for (const { securityContext } of containers) expect(securityContext).toMatchObject({ runAsNonRoot: true });
});

test('what no volume stands behind is not served', () => {
  const spec = specOf(render(sharing(['ghost'])));
  expect(JSON.stringify([spec.containers, spec.volumes])).not.toContain('virtiofs');
});

test('the configuration may say what such a container gets', () => {
  const resources = { limits: { memory: '1Gi' } };
  const config = configured({ supportContainerResources: [{ type: 'virtiofs', resources }] });
  const { containers } = specOf(render(sharing(['home']), { config }));
  expect(containers.find(({ name }) => name === 'virtiofs-home')?.resources).toEqual({
    ...{ requests: { cpu: '10m', memory: '1M' }, limits: { cpu: '100m', memory: '1Gi' } },
  });
});
