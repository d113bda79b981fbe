import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import proto from '@temporalio/proto';
import type { temporal } from '@temporalio/proto';

type Recorded = temporal.api.history.v1.IHistory;
const { History } = proto.temporal.api.history.v1;

const folder = fileURLToPath(new URL('histories/', import.meta.url));

/** Names of the recorded histories. */
export const names = async (): Promise<string[]> =>
  (await readdir(folder)).filter((file) => file.endsWith('.json')).map((file) => file.replace(/\.json$/, ''));

/** A recorded history; with `change` its text is changed first. */
export const load = async (name: string, change = (text: string): string => text): Promise<Recorded> =>
  History.fromObject(JSON.parse(change(await readFile(`${folder}${name}.json`, 'utf8'))) as Record<string, unknown>);

export const save = async (name: string, history: Recorded): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const plain: unknown = JSON.parse(JSON.stringify(History.create(history)), withoutMachine);
  await writeFile(`${folder}${name}.json`, `${JSON.stringify(plain)}\n`);
};

/** What says where and by which build it was recorded, and means nothing to a replay. */
const withoutMachine = (key: string, value: unknown): unknown => {
  if (key === 'stackTrace' || key === 'binaryChecksum' || key === 'workerVersion') return undefined;
  return key === 'identity' ? 'recorder' : value;
};
