import { errorCode } from '../files/error-code.ts';

/** OpenSSL's and Node's codes for a certificate that is not to be trusted, by what that means for people. */
const OTHER_CA = 'its certificate is of another CA: has one of the two nodes a certificate of an older installation?';
const WORDS: Record<string, string> = {
  ECONNREFUSED: 'nobody listens there: is its node worker running?',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'it does not answer: does a firewall or network policy stand in between?',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  CERT_HAS_EXPIRED: 'its certificate has expired: is its clock right, and does its node worker run?',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: are the clocks of both nodes right?',
  SELF_SIGNED_CERT_IN_CHAIN: OTHER_CA,
  DEPTH_ZERO_SELF_SIGNED_CERT: OTHER_CA,
  UNABLE_TO_GET_ISSUER_CERT: OTHER_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: OTHER_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: OTHER_CA,
  CERT_SIGNATURE_FAILURE: OTHER_CA,
  INVALID_PURPOSE: 'its certificate is not for connections of this kind',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS',
  ERR_SSL_HTTP_REQUEST: 'it speaks HTTP, not TLS',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'it does not speak TLS 1.3',
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'it shows no certificate',
  ERR_TLS_HANDSHAKE_TIMEOUT: 'it did not finish the TLS handshake in time',
};

/** What a failed connection to or from another node means. */
export const peerTrouble = (error: unknown): string => {
  const code = errorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code === undefined) return message;
  return WORDS[code] === undefined ? `${message} (${code})` : `${WORDS[code]} (${code})`;
};
