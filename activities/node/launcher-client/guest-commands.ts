import { z } from 'zod';
import { GUEST_PROTOCOL } from '../../../api/launcher/host-facts.ts';
import type { DomainReport } from '../../../api/launcher/reports.ts';
import { failure } from '../../failures.ts';
import type { Handshake } from './schemas.ts';
import { domainReply, parseReport } from './schemas.ts';
import type { Wire } from './wire.ts';

/** Milliseconds that a command may take: without the guest's help, by its agent (a few questions), and with all file systems flushed first. */
const DEADLINES = { answer: 10_000, agent: 20_000, freeze: 70_000 };

/**
 * What can be asked of a running guest. Answers of the agent are its own.
 * @throws LauncherTooOld, StaleToken (the guest's state forbids it), and the other failures of `fromLauncher`
 */
export interface GuestCommands {
  pauseVMI(): Promise<DomainReport>;
  unpauseVMI(): Promise<DomainReport>;
  resetVMI(): Promise<DomainReport>;
  softRebootVMI(): Promise<DomainReport>;
  /** @param thawAfterSeconds 0: the launcher's default; less than 0: never by itself */
  freezeVMI(thawAfterSeconds: number): Promise<void>;
  unfreezeVMI(): Promise<void>;
  getGuestInfo(): Promise<unknown>;
  getUsers(): Promise<unknown>;
  getFilesystems(): Promise<unknown>;
  guestPing(): Promise<void>;
  /** PNG. */
  getScreenshot(movePointer: boolean): Promise<Buffer>;
}

const jsonReply = z.object({ json: z.string() });
const screenshotReply = z.object({ png: z.instanceof(Uint8Array) });

export const guestCommands = (wire: Wire, handshake: Handshake): GuestCommands => {
  const { vmiUid, podUid } = handshake;
  const requireProtocol = (): void => {
    if (handshake.protocol >= GUEST_PROTOCOL) return;
    throw failure(
      'LauncherTooOld',
      `the launcher of Pod ${podUid} is of release ${handshake.release}, which cannot do this: restart or migrate the VM`,
    );
  };
  const report = async (method: string): Promise<DomainReport> => {
    requireProtocol();
    return parseReport(domainReply.parse(await wire.call(method, { vmiUid }, DEADLINES.agent)).reportJson);
  };
  const ask = async (method: string, deadline: number, request: object = {}): Promise<unknown> => {
    requireProtocol();
    return JSON.parse(jsonReply.parse(await wire.call(method, { vmiUid, ...request }, deadline)).json) as unknown;
  };
  return {
    pauseVMI: () => report('PauseVMI'),
    unpauseVMI: () => report('UnpauseVMI'),
    resetVMI: () => report('ResetVMI'),
    softRebootVMI: () => report('SoftRebootVMI'),
    freezeVMI: async (thawAfterSeconds) => void (await ask('FreezeVMI', DEADLINES.freeze, { thawAfterSeconds })),
    unfreezeVMI: async () => void (await ask('UnfreezeVMI', DEADLINES.freeze)),
    getGuestInfo: () => ask('GetGuestInfo', DEADLINES.agent),
    getUsers: () => ask('GetUsers', DEADLINES.agent),
    getFilesystems: () => ask('GetFilesystems', DEADLINES.agent),
    guestPing: async () => void (await ask('GuestPing', DEADLINES.agent)),
    async getScreenshot(movePointer) {
      requireProtocol();
      const reply = await wire.call('GetScreenshot', { vmiUid, movePointer }, DEADLINES.answer);
      return Buffer.from(screenshotReply.parse(reply).png);
    },
  };
};
