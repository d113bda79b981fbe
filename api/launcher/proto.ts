/** The launcher's commands; lies beside this file, and in an image beside the bundle that this file has become part of. */
export const LAUNCHER_PROTO = new URL('launcher.proto', import.meta.url);
