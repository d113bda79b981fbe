import { Program } from './frame.ts';
import type { DomainInfo, DomainRef, DomainStats, JobStats, Parameter, StateAndReason } from './types.ts';
import { readDomain, readParameters, writeDomain, writeParameters } from './types.ts';
import type { XdrReader, XdrWriter } from './xdr.ts';

/** One remote procedure: its number and how its arguments and its result look on the wire. */
export interface Procedure<Arguments extends readonly unknown[], Result> {
  readonly program: number;
  readonly number: number;
  readonly encode: (writer: XdrWriter, ...args: Arguments) => void;
  readonly decode: (reader: XdrReader) => Result;
}

function remote<Arguments extends readonly unknown[], Result>(
  number: number,
  encode: (writer: XdrWriter, ...args: Arguments) => void,
  decode: (reader: XdrReader) => Result,
): Procedure<Arguments, Result> {
  return { program: Program.remote, number, encode, decode };
}

const nothing = (): void => undefined;
const domainAndFlags = (writer: XdrWriter, domain: DomainRef, flags: number): void => {
  writeDomain(writer, domain);
  writer.u32(flags);
};

/**
 * The procedures in use, one line of protocol each (numbers and structures: src/remote/remote_protocol.x and
 * qemu_protocol.x of libvirt, append-only since version 1). To use another, add its line.
 */
export const procedures = {
  authList: remote(66, nothing, (reader) => reader.list(() => reader.i32())),
  supportsFeature: remote(
    60,
    (writer, feature: number) => void writer.i32(feature),
    (reader) => reader.bool(),
  ),
  connectOpen: remote(
    1,
    (writer, uri: string) => void writer.optional(uri, (text) => writer.string(text)).u32(0),
    nothing,
  ),
  connectClose: remote(2, nothing, nothing),
  connectGetLibVersion: remote(157, nothing, (reader) => reader.u64()),

  /** Emulator, architecture, machine and type of virtualisation: the default of each. */
  connectGetDomainCapabilities: remote(
    342,
    (writer) => void writer.u32(0).u32(0).u32(0).u32(0).u32(0),
    (reader) => reader.string(),
  ),

  domainDefineXmlFlags: remote(
    350,
    (writer, xml: string, flags: number) => void writer.string(xml).u32(flags),
    readDomain,
  ),
  domainUndefineFlags: remote(231, domainAndFlags, nothing),
  domainCreateWithFlags: remote(196, domainAndFlags, readDomain),
  domainLookupByName: remote(23, (writer, name: string) => void writer.string(name), readDomain),
  domainGetXmlDesc: remote(14, domainAndFlags, (reader) => reader.string()),
  domainGetInfo: remote(16, writeDomain, (reader): DomainInfo => ({
    state: reader.u32(),
    maxMemoryKiB: reader.u64(),
    memoryKiB: reader.u64(),
    cpus: reader.u32(),
    cpuTimeNs: reader.u64(),
  })),
  domainGetState: remote(212, domainAndFlags, (reader): StateAndReason => ({
    state: reader.i32(),
    reason: reader.i32(),
  })),
  domainSuspend: remote(34, writeDomain, nothing),
  domainResume: remote(28, writeDomain, nothing),
  domainReboot: remote(27, domainAndFlags, nothing),
  domainReset: remote(245, domainAndFlags, nothing),
  domainShutdownFlags: remote(258, domainAndFlags, nothing),
  domainDestroyFlags: remote(234, domainAndFlags, nothing),
  connectGetAllDomainStats: remote(
    344,
    (writer, domains: readonly DomainRef[], stats: number, flags: number) =>
      void writer
        .list(domains, (domain) => writeDomain(writer, domain))
        .u32(stats)
        .u32(flags),
    (reader): DomainStats[] => reader.list(() => ({ domain: readDomain(reader), stats: readParameters(reader) })),
  ),

  domainGetJobStats: remote(298, domainAndFlags, (reader): JobStats => ({
    type: reader.i32(),
    stats: readParameters(reader),
  })),
  domainAbortJob: remote(164, writeDomain, nothing),
  domainMigrateSetMaxDowntime: remote(
    166,
    (writer, domain: DomainRef, milliseconds: bigint) => {
      writeDomain(writer, domain);
      writer.u64(milliseconds).u32(0);
    },
    nothing,
  ),
  domainMigrateStartPostCopy: remote(364, domainAndFlags, nothing),
  domainMigratePerform3Params: remote(
    305,
    (writer, domain: DomainRef, destinationUri: string, parameters: readonly Parameter[], flags: number) => {
      writeDomain(writer, domain);
      writer.optional(destinationUri, (uri) => writer.string(uri));
      writeParameters(writer, parameters);
      writer.opaque(Buffer.alloc(0)).u32(flags);
    },
    (reader) => void reader.opaque(),
  ),

  domainEventCallbackRegisterAny: remote(
    316,
    (writer, eventId: number) =>
      void writer.i32(eventId).optional<DomainRef>(null, (domain) => writeDomain(writer, domain)),
    (reader) => reader.i32(),
  ),
  domainEventCallbackDeregisterAny: remote(317, (writer, callbackId: number) => void writer.i32(callbackId), nothing),

  qemuDomainMonitorCommand: {
    program: Program.qemu,
    number: 1,
    encode: (writer: XdrWriter, domain: DomainRef, command: string) => {
      writeDomain(writer, domain);
      writer.string(command).u32(0);
    },
    decode: (reader: XdrReader) => reader.string(),
  } satisfies Procedure<[DomainRef, string], string>,
  qemuDomainAgentCommand: {
    program: Program.qemu,
    number: 3,
    encode: (writer: XdrWriter, domain: DomainRef, command: string, timeoutSeconds: number) => {
      writeDomain(writer, domain);
      writer.string(command).i32(timeoutSeconds).u32(0);
    },
    decode: (reader: XdrReader) => reader.optional(() => reader.string()),
  } satisfies Procedure<[DomainRef, string, number], string | null>,
};
