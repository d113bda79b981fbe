import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FrameParser, MessageType, Program, Status, encodeFrame } from '../../../../launcher/libvirt/frame.ts';
import type { Frame } from '../../../../launcher/libvirt/frame.ts';
import { XdrWriter } from '../../../../launcher/libvirt/xdr.ts';

type Answer = (call: Frame, peer: Peer) => void;

/** The daemon's end of one connection. */
export class Peer {
  readonly socket: Socket;
  readonly received: Frame[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
  }

  reply(call: Frame, write: (writer: XdrWriter) => void = () => undefined): void {
    this.socket.write(replyTo(call, write));
  }

  refuse(call: Frame, code: number, message: string): void {
    const writer = new XdrWriter();
    writer
      .i32(code)
      .i32(10)
      .optional(message, (text) => writer.string(text))
      .i32(2);
    writer.u32(0).u32(0).u32(0).u32(0).i32(0).i32(0).u32(0);
    this.socket.write(
      encodeFrame({ ...call, type: MessageType.reply, status: Status.error, payload: writer.toBuffer() }),
    );
  }

  send(frame: Partial<Frame>): void {
    const empty = { program: Program.remote, procedure: 0, type: MessageType.event, serial: 0, status: Status.ok };
    this.socket.write(encodeFrame({ ...empty, payload: Buffer.alloc(0), ...frame }));
  }
}

export const replyTo = (call: Frame, write: (writer: XdrWriter) => void = () => undefined): Buffer => {
  const writer = new XdrWriter();
  write(writer);
  return encodeFrame({ ...call, type: MessageType.reply, status: Status.ok, payload: writer.toBuffer() });
};

/** Answers a procedure by its number; what is not named here is not answered. */
export const greeting: Readonly<Record<number, Answer>> = {
  66: (call, peer) => peer.reply(call, (writer) => writer.list([0], (type) => writer.i32(type))),
  60: (call, peer) => peer.reply(call, (writer) => writer.i32(1)),
  1: (call, peer) => peer.reply(call),
  2: (call, peer) => peer.reply(call),
  157: (call, peer) => peer.reply(call, (writer) => writer.u64(9_000_000n)),
  316: (call, peer) => peer.reply(call, (writer) => writer.i32(1)),
};

/** Speaks libvirt's protocol on a real socket, as a test tells it to. */
export class FakeLibvirtd {
  readonly path: string;
  readonly peers: Peer[] = [];
  readonly #directory: string;
  readonly #server: Server;

  private constructor(answers: Readonly<Record<number, Answer>>) {
    this.#directory = mkdtempSync(join(tmpdir(), 'vf-fake-'));
    this.path = join(this.#directory, 'sock');
    this.#server = createServer((socket) => {
      const peer = new Peer(socket);
      this.peers.push(peer);
      const parser = new FrameParser();
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        for (const frame of parser.push(chunk)) {
          peer.received.push(frame);
          if (frame.type === MessageType.call) answers[frame.procedure]?.(frame, peer);
        }
      });
    });
  }

  static async start(answers: Readonly<Record<number, Answer>> = greeting): Promise<FakeLibvirtd> {
    const fake = new FakeLibvirtd(answers);
    await new Promise<void>((resolve) => fake.#server.listen(fake.path, resolve));
    return fake;
  }

  get peer(): Peer {
    const peer = this.peers.at(-1);
    if (peer === undefined) throw new Error('nobody has connected');
    return peer;
  }

  async stop(): Promise<void> {
    this.peers.forEach((peer) => peer.socket.destroy());
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
