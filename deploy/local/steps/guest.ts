import type { Step } from '../context.ts';
import { buildGuest } from '../guest/build.ts';
import { updateLists } from './apt.ts';

export const guest: Step = {
  title: 'Build the test guest: a kernel with BusyBox and the QEMU guest agent',
  run: async (ctx) => {
    await buildGuest(ctx).catch(async () => {
      await updateLists(ctx); // old lists name versions that the mirror no longer has
      await buildGuest(ctx);
    });
  },
  remedy: 'check that apt-get download works (apt-get update), then run this again',
};
