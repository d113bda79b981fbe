import { XdrError } from './xdr.ts';
import type { XdrReader, XdrWriter } from './xdr.ts';

/** A domain as libvirt names it in every call: name, UUID (16 bytes) and the running instance's id (-1 when not running). */
export interface DomainRef {
  readonly name: string;
  readonly uuid: Buffer;
  readonly id: number;
}

/** Values of libvirt's typed parameters; 64-bit numbers are bigints. */
export type ParameterValue = number | bigint | string | boolean;
export type Parameters = Readonly<Record<string, ParameterValue>>;

/** A typed parameter to send: the type is part of the protocol and cannot be derived from the value. */
export type Parameter =
  | { readonly name: string; readonly type: 'int' | 'uint' | 'double'; readonly value: number }
  | { readonly name: string; readonly type: 'llong' | 'ullong'; readonly value: bigint }
  | { readonly name: string; readonly type: 'boolean'; readonly value: boolean }
  | { readonly name: string; readonly type: 'string'; readonly value: string };

/** virDomainState. */
export const DomainState = {
  noState: 0,
  running: 1,
  blocked: 2,
  paused: 3,
  shutdown: 4,
  shutoff: 5,
  crashed: 6,
  pmSuspended: 7,
} as const;

/** State and virDomain…Reason, whose meaning depends on the state. */
export interface StateAndReason {
  readonly state: number;
  readonly reason: number;
}

export interface DomainInfo {
  readonly state: number;
  readonly maxMemoryKiB: bigint;
  readonly memoryKiB: bigint;
  readonly cpus: number;
  readonly cpuTimeNs: bigint;
}

export interface DomainStats {
  readonly domain: DomainRef;
  readonly stats: Parameters;
}

export interface JobStats {
  /** virDomainJobType: 0 none, 1 bounded, 2 unbounded, 3 completed, 4 failed, 5 cancelled. */
  readonly type: number;
  readonly stats: Parameters;
}

const UUID_BYTES = 16;

export function writeDomain(writer: XdrWriter, domain: DomainRef): void {
  writer.string(domain.name).fixed(domain.uuid).i32(domain.id);
}

export function readDomain(reader: XdrReader): DomainRef {
  return { name: reader.string(), uuid: reader.fixed(UUID_BYTES), id: reader.i32() };
}

/** virTypedParameterType. */
const ParameterType = { int: 1, uint: 2, llong: 3, ullong: 4, double: 5, boolean: 6, string: 7 } as const;

export function writeParameters(writer: XdrWriter, parameters: readonly Parameter[]): void {
  writer.list(parameters, (parameter) => {
    writer.string(parameter.name).i32(ParameterType[parameter.type]);
    switch (parameter.type) {
      case 'int':
        return writer.i32(parameter.value);
      case 'uint':
        return writer.u32(parameter.value);
      case 'llong':
        return writer.i64(parameter.value);
      case 'ullong':
        return writer.u64(parameter.value);
      case 'double':
        return writer.f64(parameter.value);
      case 'boolean':
        return writer.bool(parameter.value);
      case 'string':
        return writer.string(parameter.value);
    }
  });
}

const parameterReaders: Readonly<Record<number, (reader: XdrReader) => ParameterValue>> = {
  [ParameterType.int]: (reader) => reader.i32(),
  [ParameterType.uint]: (reader) => reader.u32(),
  [ParameterType.llong]: (reader) => reader.i64(),
  [ParameterType.ullong]: (reader) => reader.u64(),
  [ParameterType.double]: (reader) => reader.f64(),
  [ParameterType.boolean]: (reader) => reader.bool(),
  [ParameterType.string]: (reader) => reader.string(),
};

export function readParameters(reader: XdrReader): Parameters {
  const entries = reader.list((): [string, ParameterValue] => {
    const name = reader.string();
    const type = reader.i32();
    const readValue = parameterReaders[type];
    if (readValue === undefined) throw new XdrError(`typed parameter ${name} has unknown type ${type}`);
    return [name, readValue(reader)];
  });
  return Object.fromEntries(entries);
}
