import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runTool } from './run-tool.ts';

/** One date for everything in an image: the same files must give the same bytes in every Pod, since a guest that migrates keeps what it has read. */
const DATE_SECONDS = 946_684_800;

/** Makes an ISO 9660 image with these files at its root. Replaces an older one in one step. */
export async function writeIso(image: string, label: string, files: Readonly<Record<string, string>>): Promise<void> {
  const content = mkdtempSync(join(dirname(image), '.iso-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(content, name), text, { mode: 0o600 });
      utimesSync(join(content, name), DATE_SECONDS, DATE_SECONDS);
    }
    utimesSync(content, DATE_SECONDS, DATE_SECONDS);
    const part = `${image}.part`;
    const args = ['-as', 'mkisofs', '-quiet', '-joliet', '-rock', '-volid', label, '-output', part, content];
    await runTool('xorriso', args, { SOURCE_DATE_EPOCH: String(DATE_SECONDS) });
    renameSync(part, image);
  } finally {
    rmSync(content, { recursive: true, force: true });
  }
}
