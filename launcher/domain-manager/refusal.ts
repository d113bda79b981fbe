/** Why a command was not carried out. The command server turns it into a status code. */
export type RefusalKind =
  /** The caller acts under an older run token, or the state forbids the command. */
  | 'precondition'
  /** The request itself cannot be carried out: the same one will be refused again. */
  | 'invalid'
  /** libvirt or QEMU failed; a repetition may help. */
  | 'failed'
  /** libvirt cannot be reached at the moment. */
  | 'unavailable';

export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}
