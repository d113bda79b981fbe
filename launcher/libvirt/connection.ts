import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { LibvirtConnectionError, LibvirtError, LibvirtProtocolError, LibvirtSilentError } from './errors.ts';
import { FrameParser, MessageType, Program, Status, encodeFrame } from './frame.ts';
import type { Frame } from './frame.ts';
import type { Procedure } from './procedures.ts';
import { readDomain } from './types.ts';
import { XdrError, XdrReader, XdrWriter } from './xdr.ts';

export interface ConnectionOptions {
  /** Time to reach the socket, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Time for a daemon's first answer; one that is just starting on a busy host may take a while. */
  readonly firstAnswerTimeoutMs: number;
  /** A ping is sent after this long without a message from the daemon. */
  readonly keepaliveIntervalMs: number;
  /** The connection is given up after so many pings without any message. */
  readonly keepaliveCount: number;
  /** Bytes that may wait to be written before further calls are refused. */
  readonly maxQueuedBytes: number;
}

/** Keepalive as in libvirt's own defaults: a dead or frozen daemon is noticed within 30 s. */
export const defaultOptions: ConnectionOptions = {
  connectTimeoutMs: 5_000,
  firstAnswerTimeoutMs: 30_000,
  keepaliveIntervalMs: 5_000,
  keepaliveCount: 5,
  maxQueuedBytes: 16 * 1024 * 1024,
};

const Keepalive = { ping: 1, pong: 2 } as const;

interface PendingCall {
  readonly name: string;
  readonly settle: (frame: Frame) => void;
  readonly reject: (error: Error) => void;
}

/** Takes messages that are neither replies nor keepalive. Must not throw except XdrError. */
export type EventListener = (procedure: number, reader: XdrReader) => void;

/**
 * One connection to a libvirtd over its unix socket: matches replies to calls, answers and sends keepalive, hands over
 * events. Knows nothing of what the procedures mean. Once closed it stays closed.
 */
export class Connection {
  /** Resolves, never rejects, with the reason once the connection has ended. */
  readonly closed: Promise<Error>;
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #parser = new FrameParser();
  readonly #pending = new Map<number, PendingCall>();
  readonly #onEvent: EventListener;
  #resolveClosed: (reason: Error) => void = () => undefined;
  #closedBy: Error | undefined;
  #serial = 0;
  #silentPings = 0;
  #keepaliveTimer: NodeJS.Timeout | undefined;

  private constructor(socket: Socket, options: ConnectionOptions, onEvent: EventListener) {
    this.#socket = socket;
    this.#options = options;
    this.#onEvent = onEvent;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (error) =>
      this.#end(new LibvirtConnectionError(`connection to libvirt failed: ${error.message}`)),
    );
    socket.on('close', () => this.#end(new LibvirtConnectionError('libvirt closed the connection')));
  }

  /** @throws LibvirtConnectionError when the socket cannot be reached in time */
  static async open(path: string, options: ConnectionOptions, onEvent: EventListener): Promise<Connection> {
    const socket = connect(path);
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void => {
        socket.destroy();
        reject(new LibvirtConnectionError(`cannot connect to libvirt at ${path}: ${why}`));
      };
      const timer = setTimeout(() => fail(`no answer in ${options.connectTimeoutMs} ms`), options.connectTimeoutMs);
      socket.once('connect', () => (clearTimeout(timer), socket.removeAllListeners('error'), resolve()));
      socket.once('error', (error) => (clearTimeout(timer), fail(error.message)));
    });
    return new Connection(socket, options, onEvent);
  }

  /**
   * Calls a procedure.
   * @throws LibvirtError when libvirtd answers with an error
   * @throws LibvirtConnectionError when the connection is or gets lost: the outcome is unknown
   */
  call<Arguments extends readonly unknown[], Result>(
    name: string,
    procedure: Procedure<Arguments, Result>,
    ...args: Arguments
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#closedBy !== undefined) return reject(this.#closedBy);
      if (this.#socket.writableLength > this.#options.maxQueuedBytes) {
        return reject(new LibvirtConnectionError(`${name} refused: libvirt has stopped reading and the queue is full`));
      }
      const writer = new XdrWriter();
      procedure.encode(writer, ...args);
      const serial = this.#nextSerial();
      const { program, number } = procedure;
      const message = encodeFrame({
        program,
        procedure: number,
        type: MessageType.call,
        serial,
        status: Status.ok,
        payload: writer.toBuffer(),
      });
      const settle = (frame: Frame): void => {
        const reader = new XdrReader(frame.payload);
        if (frame.status === Status.error) reject(readError(name, reader));
        else resolve(procedure.decode(reader));
      };
      this.#pending.set(serial, { name, settle, reject });
      this.#socket.write(message);
    });
  }

  /** Watches the daemon from now on; only for daemons that support it. */
  startKeepalive(): void {
    this.#keepaliveTimer ??= setInterval(() => this.#checkAlive(), this.#options.keepaliveIntervalMs);
  }

  /** Waits for the daemon's first answer; gives the connection up when it takes too long. */
  async first<T>(answer: Promise<T>): Promise<T> {
    const timeoutMs = this.#options.firstAnswerTimeoutMs;
    const silent = (): void => this.#end(new LibvirtSilentError(`libvirt has not answered for ${timeoutMs} ms`));
    const timer = setTimeout(silent, timeoutMs);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#end(new LibvirtConnectionError('connection to libvirt closed by this side'));
  }

  #nextSerial(): number {
    do this.#serial = (this.#serial + 1) >>> 0;
    while (this.#pending.has(this.#serial));
    return this.#serial;
  }

  #receive(chunk: Buffer): void {
    this.#silentPings = 0;
    try {
      for (const frame of this.#parser.push(chunk)) {
        if (this.#closedBy !== undefined) return;
        this.#dispatch(frame);
      }
    } catch (error) {
      if (error instanceof XdrError) this.#end(new LibvirtProtocolError(error.message, { cause: error }));
      else if (error instanceof LibvirtProtocolError) this.#end(error);
      else throw error;
    }
  }

  #dispatch(frame: Frame): void {
    if (frame.program === Program.keepalive) {
      if (frame.procedure === Keepalive.ping) this.#sendKeepalive(Keepalive.pong);
    } else if (frame.type === MessageType.reply) {
      this.#settle(frame);
    } else if (frame.type === MessageType.event && frame.program === Program.remote) {
      this.#onEvent(frame.procedure, new XdrReader(frame.payload));
    }
    // Anything else is of a newer daemon and not meant for us.
  }

  #settle(frame: Frame): void {
    const call = this.#pending.get(frame.serial);
    if (call === undefined) return;
    this.#pending.delete(frame.serial);
    try {
      call.settle(frame);
    } catch (error) {
      call.reject(new LibvirtProtocolError(`cannot read the reply to ${call.name}`, { cause: error }));
      throw error;
    }
  }

  #checkAlive(): void {
    if (this.#silentPings >= this.#options.keepaliveCount) {
      this.#end(new LibvirtSilentError(`libvirt has not answered ${this.#silentPings} keepalive messages`));
      return;
    }
    this.#silentPings += 1;
    this.#sendKeepalive(Keepalive.ping);
  }

  #sendKeepalive(procedure: number): void {
    const empty = { type: MessageType.event, serial: 0, status: Status.ok, payload: Buffer.alloc(0) };
    this.#socket.write(encodeFrame({ program: Program.keepalive, procedure, ...empty }));
  }

  #end(reason: Error): void {
    if (this.#closedBy !== undefined) return;
    this.#closedBy = reason;
    clearInterval(this.#keepaliveTimer);
    this.#socket.destroy();
    for (const call of this.#pending.values()) call.reject(reason);
    this.#pending.clear();
    this.#resolveClosed(reason);
  }
}

function readError(procedure: string, reader: XdrReader): LibvirtError {
  const code = reader.i32();
  const domain = reader.i32();
  const message = reader.optional(() => reader.string()) ?? 'no message';
  reader.i32(); // level
  reader.optional(() => readDomain(reader)); // the rest of the structure repeats the message in parts
  return new LibvirtError(procedure, { code, domain, message });
}
