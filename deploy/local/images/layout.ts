import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** Annotations by which an OCI layout and containerd say which name an image has. */
const LAYOUT_NAME = 'org.opencontainers.image.ref.name';
const CONTAINERD_NAME = 'io.containerd.image.name';

const descriptor = z.looseObject({ digest: z.string(), annotations: z.record(z.string(), z.string()).optional() });
const index = z.object({ manifests: z.array(descriptor) });
const manifest = z.object({ config: descriptor, layers: z.array(descriptor) });

/** An image of an OCI layout. */
export interface LayoutImage {
  readonly name: string;
  readonly descriptor: z.infer<typeof descriptor>;
}

/** Images that an `index.json` lists by name. @throws ZodError when it is not one */
export const imagesOf = (indexJson: string): LayoutImage[] =>
  index.parse(JSON.parse(indexJson)).manifests.flatMap((entry) => {
    const name = entry.annotations?.[LAYOUT_NAME];
    return name === undefined ? [] : [{ name, descriptor: entry }];
  });

/** An `index.json` with one image, so that containerd imports it under its name. */
export const indexOf = ({ name, descriptor: entry }: LayoutImage): string =>
  JSON.stringify({ schemaVersion: 2, manifests: [{ ...entry, annotations: { [CONTAINERD_NAME]: name } }] });

/** Where an OCI layout keeps the content of a digest, `sha256:…`. */
export const blobPath = (digest: string): string => `blobs/${digest.replace(':', '/')}`;

/** Images of the layout in a directory; none when there is no layout yet. */
export const readLayout = async (layout: string): Promise<LayoutImage[]> => {
  const text = await readFile(join(layout, 'index.json'), 'utf8').catch(() => undefined);
  return text === undefined ? [] : imagesOf(text);
};

/** Digests of everything that an image consists of: manifest, configuration, layers. */
export const contentOf = async (layout: string, image: LayoutImage): Promise<string[]> => {
  const { digest } = image.descriptor;
  const { config, layers } = manifest.parse(JSON.parse(await readFile(join(layout, blobPath(digest)), 'utf8')));
  return [digest, config.digest, ...layers.map((layer) => layer.digest)];
};
