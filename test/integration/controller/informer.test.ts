import net from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { kubeClient } from '../../../activities/kube/client.ts';
import type { KubePort } from '../../../activities/kube/port.ts';
import { restOf } from '../../../activities/kube/rest.ts';
import type { VirtualMachine } from '../../../api/kubevirt/types.ts';
import { Informer } from '../../../workers/shared/informer.ts';
import type { TestApiServer } from '../../support/api-server.ts';
import { startApiServer } from '../../support/api-server.ts';
import { until } from '../../support/until.ts';

let server: TestApiServer;
let kube: KubePort;
// Compaction soon, so that an old resourceVersion is too old after a restart.
beforeAll(async () => {
  server = await startApiServer(['--etcd-compaction-interval=1s']);
  kube = kubeClient(server.rest);
}, 120_000);
afterAll(() => server.close(), 30_000);

const vm = (name: string): VirtualMachine => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { namespace: 'default', name },
  spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
});

/** A wire that can be cut: what the informer sees of the network. */
const wireTo = async (port: number) => {
  const sockets = new Set<Socket>();
  let isCut = false;
  const wire = net.createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = net.connect(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => (near.destroy(), far.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve));
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port: (wire.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
      drop();
    },
    mend: () => (isCut = false),
    drop,
    close: () => (drop(), wire.close()),
  };
};

/** An informer of VMs behind a wire, and the names it knows. */
const watching = async () => {
  const wire = await wireTo(server.port);
  const told: string[] = [];
  const informer = new Informer({
    rest: restOf(server.kubeConfig(wire.port)),
    kind: 'VirtualMachine',
    log: pino({ level: 'silent' }),
    maxBackoffMs: 300,
    onChange: ({ before, after }) =>
      told.push(`${after === undefined ? '-' : before === undefined ? '+' : '~'}${(after ?? before)?.metadata?.name}`),
  });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await informer.synced;
  const names = () =>
    informer
      .list()
      .map(({ metadata }) => metadata?.name ?? '')
      .sort();
  return {
    wire,
    told,
    informer,
    sees: (...expected: string[]) =>
      until(`it sees ${expected.join(', ')}`, () => expected.every((name) => names().includes(name)), {
        timeoutMs: 60_000,
      }),
    misses: (name: string) => until(`${name} is gone`, () => !names().includes(name), { timeoutMs: 60_000 }),
    stop: async () => {
      stop.abort();
      wire.close();
      await running;
    },
  };
};

test('it survives a broken connection without missing anything', async () => {
  const eyes = await watching();
  await kube.create('VirtualMachine', vm('a1'));
  await eyes.sees('a1');
  eyes.wire.cut();
  await kube.create('VirtualMachine', vm('a2'));
  eyes.wire.mend();
  await eyes.sees('a1', 'a2');
  expect(eyes.told.filter((change) => change === '+a1')).toHaveLength(1);
  await eyes.stop();
});

test('it survives kill -9 of the API server', async () => {
  const eyes = await watching();
  await kube.create('VirtualMachine', vm('b1'));
  await eyes.sees('b1');
  await server.restart();
  await kube.create('VirtualMachine', vm('b2'));
  await eyes.sees('b2');
  expect(eyes.informer.check()).toMatchObject({ ok: true });
  await eyes.stop();
}, 120_000);

test('after 410 it lists again and sees what came and what went', async () => {
  await kube.create('VirtualMachine', vm('c1'));
  const eyes = await watching();
  await eyes.sees('c1');
  eyes.wire.cut();
  const gone = await kube.get('VirtualMachine', { namespace: 'default', name: 'c1' });
  await kube.remove('VirtualMachine', { namespace: 'default', name: 'c1' }, { uid: gone?.metadata?.uid ?? '' });
  await kube.create('VirtualMachine', vm('c2'));
  // The restarted server knows nothing older than what etcd still has.
  await server.kill();
  await server.start();
  for (let n = 0; n < 3; n += 1) await kube.create('VirtualMachine', vm(`c-more-${n}`));
  eyes.wire.mend();
  await eyes.sees('c2', 'c-more-2');
  await eyes.misses('c1');
  await eyes.stop();
}, 120_000);
