/** What libvirtd says in the reply to a call that failed (struct remote_error). */
export interface LibvirtFailure {
  /** virErrorNumber: see {@link LibvirtErrorCode} for the ones that matter here. */
  readonly code: number;
  /** virErrorDomain: the part of libvirt that failed. */
  readonly domain: number;
  readonly message: string;
}

/** The virErrorNumber values this project decides on. */
export const LibvirtErrorCode = {
  internalError: 1,
  noDomain: 42,
  operationInvalid: 55,
  operationFailed: 9,
  operationTimeout: 68,
  operationAborted: 78,
  agentUnresponsive: 86,
  agentCommandTimeout: 104,
} as const;

/** libvirtd answered a call with an error. */
export class LibvirtError extends Error {
  override readonly name = 'LibvirtError';
  readonly code: number;
  readonly domain: number;
  /** The call that failed, such as `domainCreate`. */
  readonly procedure: string;

  constructor(procedure: string, failure: LibvirtFailure) {
    super(`libvirt refused ${procedure}: ${failure.message} (code ${failure.code})`);
    this.code = failure.code;
    this.domain = failure.domain;
    this.procedure = procedure;
  }
}

/** The connection is gone or cannot be made; whether a call that was under way took effect is unknown. */
export class LibvirtConnectionError extends Error {
  override readonly name = 'LibvirtConnectionError';
}

/** The daemon has accepted the connection but does not answer: it is frozen. */
export class LibvirtSilentError extends LibvirtConnectionError {}

/** The peer does not speak libvirt's protocol as expected. Always ends the connection. */
export class LibvirtProtocolError extends Error {
  override readonly name = 'LibvirtProtocolError';
}

const hasCode = (error: unknown, ...codes: number[]): boolean =>
  error instanceof LibvirtError && codes.includes(error.code);

/** No domain of that name or UUID exists. */
export const isNoDomain = (error: unknown): boolean => hasCode(error, LibvirtErrorCode.noDomain);

/** The domain's state does not allow the operation, such as stopping what is not running. */
export const isOperationInvalid = (error: unknown): boolean => hasCode(error, LibvirtErrorCode.operationInvalid);

/** The guest agent does not answer: not installed, not started yet, or stuck. */
export const isAgentUnresponsive = (error: unknown): boolean =>
  hasCode(error, LibvirtErrorCode.agentUnresponsive, LibvirtErrorCode.agentCommandTimeout);

/** A job, such as a migration, was aborted on request. */
export const isAborted = (error: unknown): boolean => hasCode(error, LibvirtErrorCode.operationAborted);

/** The connection failed, so that the outcome of the call is unknown and has to be observed. */
export const isConnectionLost = (error: unknown): boolean =>
  error instanceof LibvirtConnectionError || error instanceof LibvirtProtocolError;
