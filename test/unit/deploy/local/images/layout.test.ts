import { expect, test } from '@jest/globals';
import { blobPath, imagesOf, indexOf } from '../../../../../deploy/local/images/layout.ts';

const entry = (name: string, digest: string) => ({
  mediaType: 'application/vnd.oci.image.manifest.v1+json',
  digest,
  size: 3,
  annotations: { 'org.opencontainers.image.ref.name': name },
});
const layout = JSON.stringify({
  schemaVersion: 2,
  manifests: [entry('localhost/a:1', 'sha256:aa'), entry('localhost/b:1', 'sha256:bb'), { digest: 'sha256:cc' }],
});

test('images of a layout are those with a name', () => {
  expect(imagesOf(layout).map(({ name }) => name)).toEqual(['localhost/a:1', 'localhost/b:1']);
});

test('the index for containerd lists one image, by the name that containerd reads', () => {
  const [, image] = imagesOf(layout);
  if (image === undefined) throw new Error('no image');
  expect(JSON.parse(indexOf(image))).toEqual({
    schemaVersion: 2,
    manifests: [
      {
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        digest: 'sha256:bb',
        size: 3,
        annotations: { 'io.containerd.image.name': 'localhost/b:1' },
      },
    ],
  });
});

test('content lies under its algorithm and digest', () => {
  expect(blobPath('sha256:aa')).toBe('blobs/sha256/aa');
});

test('what is no index is refused', () => {
  expect(() => imagesOf('{"manifests":[{}]}')).toThrow();
});
