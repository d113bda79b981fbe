import { readFileSync } from 'node:fs';
import type { ServiceDefinition } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import type { Method, Type } from 'protobufjs';
import { LAUNCHER_PROTO } from '../../api/launcher/proto.ts';

/**
 * The launcher's commands as gRPC takes them. Fields that a message leaves out read as their defaults, whole numbers of 64 bits as numbers. Made by
 * protobuf.js alone: `@grpc/proto-loader` also makes descriptors for reflection, which nobody asks a launcher for, in a tenth of the time that it needs to start.
 */
export function launcherService(): ServiceDefinition {
  const root = protobuf.parse(readFileSync(LAUNCHER_PROTO, 'utf8')).root.resolveAll();
  const { fullName, methodsArray } = root.lookupService('virtflow.launcher.v1.Launcher');
  const path = fullName.slice(1);
  return Object.fromEntries(methodsArray.map((method) => [method.name, definition(path, method)]));
}

const definition = (service: string, method: Method): ServiceDefinition[string] => {
  const [request, response] = [codec(method.resolvedRequestType), codec(method.resolvedResponseType)];
  return {
    path: `/${service}/${method.name}`,
    requestStream: method.requestStream === true,
    responseStream: method.responseStream === true,
    requestSerialize: request.serialize,
    requestDeserialize: request.deserialize,
    responseSerialize: response.serialize,
    responseDeserialize: response.deserialize,
  };
};

const codec = (type: Type | null): { serialize: (value: object) => Buffer; deserialize: (bytes: Buffer) => object } => {
  if (type === null) throw new Error('launcher.proto: a method without its message');
  return {
    serialize: (value) => Buffer.from(type.encode(type.fromObject(value)).finish()),
    deserialize: (bytes) => type.toObject(type.decode(bytes), { defaults: true, longs: Number }),
  };
};
