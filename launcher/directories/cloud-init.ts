import { isUtf8 } from 'node:buffer';
import type { Volume } from '../../api/kubevirt/types.ts';
import { ConversionError } from '../converter/errors.ts';

type NoCloud = NonNullable<Volume['cloudInitNoCloud']>;

/** What a cloud-init volume's Secrets hold, by key; undefined where the volume names none. */
export interface CloudInitSecrets {
  readonly userData?: string | undefined;
  readonly networkData?: string | undefined;
}

export interface CloudInitIdentity {
  readonly name: string;
  readonly namespace: string;
  readonly hostname: string;
}

/** Keys under which a Secret may hold the data (KubeVirt accepts both spellings). */
export const USER_DATA_KEYS = ['userdata', 'userData'];
export const NETWORK_DATA_KEYS = ['networkdata', 'networkData'];

/**
 * Files of a NoCloud seed, by name (cloud-init's NoCloud data source). Pure.
 * @throws ConversionError naming the field that is malformed
 */
export function noCloudFiles(
  volume: string,
  source: NoCloud,
  secrets: CloudInitSecrets,
  { name, namespace, hostname }: CloudInitIdentity,
): Record<string, string> {
  const field = `spec.volumes[${volume}].cloudInitNoCloud`;
  const userData = secrets.userData ?? source.userData ?? decode(`${field}.userDataBase64`, source.userDataBase64);
  const networkData =
    secrets.networkData ?? source.networkData ?? decode(`${field}.networkDataBase64`, source.networkDataBase64);
  if (userData === undefined && networkData === undefined) {
    throw new ConversionError(field, 'has neither user data nor network data');
  }
  return {
    'meta-data': JSON.stringify({ 'instance-id': `${name}.${namespace}`, 'local-hostname': hostname }),
    'user-data': userData ?? '',
    ...(networkData === undefined ? {} : { 'network-config': networkData }),
  };
}

function decode(field: string, base64: string | undefined): string | undefined {
  if (base64 === undefined || base64 === '') return undefined;
  const compact = base64.replace(/\s/g, '');
  const bytes = Buffer.from(compact, 'base64');
  const unpadded = (text: string): string => text.replace(/=+$/, '');
  if (unpadded(bytes.toString('base64')) !== unpadded(compact)) throw new ConversionError(field, 'is not base64');
  if (!isUtf8(bytes)) throw new ConversionError(field, 'does not decode to UTF-8 text');
  return bytes.toString('utf8');
}
