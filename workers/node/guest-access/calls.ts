import type { Launcher } from '../../../activities/node/launcher-client/client.ts';
import type { GuestCall } from '../../../api/contract/guest-access.ts';
import { toFilesystems, toGuestInfo, toUsers } from './agent-answers.ts';
import { thawAfterSeconds } from './thaw-time.ts';

export interface CallInput {
  body: unknown;
  params: Readonly<Record<string, string>>;
}

/** What a call answers: JSON, a picture, or nothing. */
export type CallAnswer = { json: object } | { png: Buffer } | undefined;

type Call = (launcher: Launcher, input: CallInput) => Promise<CallAnswer>;

const done = async (command: Promise<unknown>): Promise<undefined> => {
  await command;
};

/** Nobody is the worse for a guest that does not tell this: a frozen one cannot. */
const orNothing = (answer: Promise<unknown>): Promise<unknown> => answer.catch(() => undefined);

/** Every call by what it asks of the launcher. Objects of the agent are KubeVirt's. @throws the failures of `GuestCommands`, Refusal */
export const calls: Readonly<Record<GuestCall, Call>> = {
  pause: (launcher) => done(launcher.pauseVMI()),
  unpause: (launcher) => done(launcher.unpauseVMI()),
  reset: (launcher) => done(launcher.resetVMI()),
  softreboot: (launcher) => done(launcher.softRebootVMI()),
  freeze: (launcher, { body }) => done(launcher.freezeVMI(thawAfterSeconds(body))),
  unfreeze: (launcher) => done(launcher.unfreezeVMI()),
  async guestosinfo(launcher) {
    const known = await launcher.getGuestInfo();
    // One after the other: the agent answers one command at a time.
    const users = await orNothing(launcher.getUsers());
    return { json: toGuestInfo(known, users, await orNothing(launcher.getFilesystems())) };
  },
  userlist: async (launcher) => ({ json: { metadata: {}, items: toUsers(await launcher.getUsers()) } }),
  filesystemlist: async (launcher) => ({
    json: { metadata: {}, items: toFilesystems(await launcher.getFilesystems()) },
  }),
  vncScreenshot: async (launcher, { params }) => ({
    png: await launcher.getScreenshot(params['moveCursor'] === 'true'),
  }),
};
