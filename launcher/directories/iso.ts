import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runTool } from './run-tool.ts';

/** Makes an ISO 9660 image with these files at its root. Replaces an older one in one step. */
export async function writeIso(image: string, label: string, files: Readonly<Record<string, string>>): Promise<void> {
  const content = mkdtempSync(join(dirname(image), '.iso-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(content, name), text, { mode: 0o600 });
    const part = `${image}.part`;
    await runTool('xorriso', [
      '-as',
      'mkisofs',
      '-quiet',
      '-joliet',
      '-rock',
      '-volid',
      label,
      '-output',
      part,
      content,
    ]);
    renameSync(part, image);
  } finally {
    rmSync(content, { recursive: true, force: true });
  }
}
