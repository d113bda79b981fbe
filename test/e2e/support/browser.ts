import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { DEFAULT_TEMPORAL_NAMESPACE } from '../../../api/contract/search-attributes.ts';
import { temporalUiUrl } from '../../../deploy/local/cluster/addresses.ts';

const ARTIFACTS = join(import.meta.dirname, '../../../artifacts');

/** Opens a workflow in Temporal's UI in Debian's Chromium, and keeps a picture of it in artifacts/. */
export async function inTemporalUi<T>(
  workflowId: string,
  picture: string,
  look: (page: Page) => Promise<T>,
): Promise<T> {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1600, height: 1400 } });
    await page.goto(
      `${temporalUiUrl}/namespaces/${DEFAULT_TEMPORAL_NAMESPACE}/workflows/${encodeURIComponent(workflowId)}`,
    );
    try {
      return await look(page);
    } finally {
      await mkdir(ARTIFACTS, { recursive: true });
      await page.screenshot({ path: join(ARTIFACTS, picture), fullPage: true });
    }
  } finally {
    await browser.close();
  }
}
