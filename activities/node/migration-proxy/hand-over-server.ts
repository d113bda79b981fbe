import type { Socket } from 'node:net';
import { ApplicationFailure } from '@temporalio/common';
import type { FailureInfo } from '../../../api/contract/failures.ts';
import { isFailureType } from '../../../api/contract/failures.ts';
import { openLauncher } from '../connect.ts';
import type { Launcher, Launchers } from '../launcher-client/client.ts';
import { encodeFrame, FrameError, readFrame } from './frames.ts';
import type { HandOverReply, HandOverRequest } from './messages.ts';
import { handOverRequest, MAX_MESSAGE_BYTES } from './messages.ts';
import type { TargetSession } from './port.ts';

/** The other side gives a sign of life every few seconds. */
const SILENCE_MS = 30_000;

/** The target's end of the hand-over: answers one request after the other until the connection ends. */
export const serveHandOver = async (socket: Socket, session: TargetSession, launchers: Launchers): Promise<void> => {
  const launcher = heldLauncher(session, launchers);
  try {
    for (;;) {
      const frame = await readFrame(socket, { maxBytes: MAX_MESSAGE_BYTES, timeoutMs: SILENCE_MS });
      const reply = await answer(handOverRequest.parse(frame), session, launcher);
      if (socket.destroyed) return;
      socket.write(encodeFrame(reply));
    }
  } catch (error) {
    // The usual end: the other side is done, or gone.
    if (!(error instanceof FrameError) && !socket.destroyed) throw error;
  } finally {
    launcher.close();
    socket.destroy();
  }
};

const answer = async (
  { method }: HandOverRequest,
  { migrationUid }: TargetSession,
  launcher: HeldLauncher,
): Promise<HandOverReply> => {
  if (method === 'ping') return {};
  try {
    return {
      view: await launcher.run((one) =>
        method === 'resume' ? one.resumeMigrated({ migrationUid }) : one.getMigration({ migrationUid }),
      ),
    };
  } catch (error) {
    return { failure: toInfo(error) };
  }
};

const toInfo = (error: unknown): FailureInfo => {
  const message = error instanceof Error ? error.message : String(error);
  const type = error instanceof ApplicationFailure ? error.type : undefined;
  return { type: isFailureType(type) ? type : 'Unknown', message };
};

interface HeldLauncher {
  run<T>(command: (launcher: Launcher) => Promise<T>): Promise<T>;
  close(): void;
}

/** Keeps the connection to the launcher open: while a guest stands still there is no time to make one. After a failure the next command makes another. */
const heldLauncher = ({ vmi, pod }: TargetSession, launchers: Launchers): HeldLauncher => {
  let held: Launcher | undefined;
  const close = (): void => {
    held?.close();
    held = undefined;
  };
  return {
    async run(command) {
      try {
        held ??= await openLauncher({ launchers }, { vmi, pod });
        return await command(held);
      } catch (error) {
        close();
        throw error;
      }
    },
    close,
  };
};
