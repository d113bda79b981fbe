/** What went wrong before a request was accepted, or while its operation was asked. */
export type TriggerErrorCode =
  /** No VM of this name has a workflow: it does not exist, or was created a moment ago. */
  | 'VirtualMachineNotFound'
  /** The VM does not take the request as it stands; the message is the reason. Nothing was done. */
  | 'Refused'
  /** Nobody could answer in time: Temporal, the controller worker or, for a VM that is new to them, the API server is down. Ask again with the same key: it is the same request. */
  | 'NoAnswer'
  /** Temporal knows no such operation: the id is wrong, or older than the namespace's retention. */
  | 'OperationNotFound';

/** The one error of this package; everything else that is thrown is Temporal's own or a defect. */
export class TriggerError extends Error {
  override readonly name = 'TriggerError';
  readonly code: TriggerErrorCode;

  constructor(code: TriggerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
