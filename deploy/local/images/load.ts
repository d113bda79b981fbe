import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeSpec } from '../cluster/addresses.ts';
import { contentOn, imagesOn, importImages, nameImage } from '../cluster/node.ts';
import { run } from '../shell.ts';
import { blobPath, contentOf, indexOf, readLayout } from './layout.ts';

/**
 * Loads an image of an OCI layout into a node's containerd, unless it is there. Only what the node lacks is carried: a new image of which
 * but the sources changed takes a fraction of a second. With `alias` it gets a second name, taken from an older image that has it.
 */
export async function loadImage(node: NodeSpec, layout: string, name: string, alias?: string): Promise<void> {
  if ((await imagesOn(node)).includes(name)) return;
  const image = (await readLayout(layout)).find((one) => one.name === name);
  if (image === undefined) throw new Error(`${name} is not in ${layout}: it was not built`);
  const present = new Set(await contentOn(node));
  const [manifest = '', ...rest] = await contentOf(layout, image);
  const carried = [manifest, ...rest.filter((digest) => !present.has(digest))];

  const scratch = await mkdtemp(join(tmpdir(), 'virtflow-load-'));
  try {
    const archive = join(scratch, 'image.tar');
    await writeFile(join(scratch, 'index.json'), indexOf(image));
    const files = ['oci-layout', ...carried.map(blobPath)];
    await run(['tar', '-cf', archive, '-C', scratch, 'index.json', '-C', layout, ...files]);
    await importImages(node, archive);
    if (alias !== undefined) await nameImage(node, name, alias);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
