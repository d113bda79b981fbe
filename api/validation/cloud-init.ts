import type { Volume } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, when } from './cause.ts';

type CloudInit = NonNullable<Volume['cloudInitNoCloud']>;

/** KubeVirt's bound on inline data: larger data belongs in a Secret. */
const INLINE_MAX = 2048;

/** User data and network data each come from one place, decode, and fit. */
export const cloudInitRules: Rule = ({ spec }) =>
  (spec.volumes ?? []).flatMap(({ cloudInitNoCloud, cloudInitConfigDrive }, index) =>
    [
      { kind: 'cloudInitNoCloud', data: cloudInitNoCloud },
      { kind: 'cloudInitConfigDrive', data: cloudInitConfigDrive },
    ].flatMap(({ kind, data }) => (data === undefined ? [] : cloudInit(data, `spec.volumes[${index}].${kind}`))),
  );

const cloudInit = (data: CloudInit, field: string): Cause[] => {
  const user = { plain: data.userData, base64: data.userDataBase64, secret: data.secretRef?.name };
  const network = { plain: data.networkData, base64: data.networkDataBase64, secret: data.networkDataSecretRef?.name };
  return [
    ...when(count(user) + count(network) === 0, () => invalid(field, 'it holds no data: set userData, or secretRef')),
    ...part(user, field, 'userData', 'secretRef'),
    ...part(network, field, 'networkData', 'networkDataSecretRef'),
  ];
};

interface Sources {
  plain: string | undefined;
  base64: string | undefined;
  secret: string | undefined;
}

const count = ({ plain, base64, secret }: Sources): number => [plain, base64, secret].filter(Boolean).length;

const part = (sources: Sources, field: string, name: string, secretField: string): Cause[] => {
  const { plain = '', base64 = '' } = sources;
  const decodes = isBase64(base64);
  const size = plain ? new TextEncoder().encode(plain).length : decodes ? decodedLength(base64) : 0;
  return [
    ...when(count(sources) > 1, () =>
      invalid(field, `${name} has several sources: keep one of ${name}, ${name}Base64 and ${secretField}`),
    ),
    ...when(!decodes, () => invalid(`${field}.${name}Base64`, 'it is no valid base64')),
    ...when(size > INLINE_MAX, () =>
      invalid(
        field,
        `${name} has ${size} bytes, inline at most ${INLINE_MAX}: put it into a Secret and name it in ${secretField}`,
      ),
    ),
  ];
};

/** Standard alphabet with padding; line breaks are skipped, as decoders do. */
const isBase64 = (text: string): boolean => {
  const joined = text.replace(/[\r\n]/g, '');
  return joined.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(joined);
};

const decodedLength = (text: string): number => {
  const joined = text.replace(/[\r\n]/g, '');
  return (joined.length / 4) * 3 - (joined.length - joined.replace(/=+$/, '').length);
};
