import { expect, test } from '@jest/globals';
import { loadSync } from '@grpc/proto-loader';
import type { MessageTypeDefinition, ServiceDefinition } from '@grpc/proto-loader';
import { fileURLToPath } from 'node:url';
import { LAUNCHER_PROTO } from '../../../../api/launcher/proto.ts';
import { launcherService } from '../../../../launcher/command-server/service.ts';

const reference = loadSync(fileURLToPath(LAUNCHER_PROTO), { defaults: true, longs: Number });
const theirs = reference['virtflow.launcher.v1.Launcher'] as ServiceDefinition;
const ours = launcherService();

test('the commands are those of the proto file, with the paths and streams that callers expect', () => {
  type Shape = Pick<ServiceDefinition[string], 'path' | 'requestStream' | 'responseStream'>;
  const shapes = (service: Record<string, Shape>): [string, Shape][] =>
    Object.entries(service).map(([name, { path, requestStream, responseStream }]) => [
      name,
      { path, requestStream, responseStream },
    ]);
  expect(shapes(ours)).toEqual(shapes(theirs));
});

test.each(Object.keys(theirs))('%s: what a caller writes is read alike, and an answer too', (name) => {
  const [mine, its] = [ours[name]!, theirs[name]!];
  for (const [type, write, read] of [
    [its.requestType, its.requestSerialize, mine.requestDeserialize],
    [its.responseType, mine.responseSerialize, its.responseDeserialize],
  ] as const) {
    const message = filled(type);
    expect(read(write(message))).toEqual(message);
  }
});

test('fields that are left out read as their defaults', () => {
  const { requestDeserialize } = ours['SyncVMI']!;
  expect(requestDeserialize(Buffer.alloc(0))).toEqual(theirs['SyncVMI']!.requestDeserialize(Buffer.alloc(0)));
});

/** A message with a value in each of its fields, of its type. */
function filled(type: MessageTypeDefinition<object, object>): object {
  const { field = [] } = type.type as { field?: { name: string; type: string; label: string }[] };
  const values: Record<string, unknown> = {
    TYPE_STRING: 'text',
    TYPE_BOOL: true,
    TYPE_INT64: 2 ** 40,
    TYPE_UINT64: 2 ** 41,
    TYPE_INT32: 7,
    TYPE_UINT32: 8,
    TYPE_DOUBLE: 1.5,
    TYPE_BYTES: Buffer.from([1, 2]),
  };
  return Object.fromEntries(
    field.map(({ name, type: kind, label }) => {
      const value = values[kind];
      if (value === undefined) throw new Error(`no example of ${kind}`);
      return [name, label === 'LABEL_REPEATED' ? [value] : value];
    }),
  );
}
